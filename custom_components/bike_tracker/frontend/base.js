const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
const FRESH_MS = 300_000;
const LOW_BATTERY = 20;
/** @type {Record<string, number>} */
const UNITS = { m: 0.001, mi: 1.609344, ft: 0.0003048, yd: 0.0009144, min: 60, h: 3600, d: 86_400 };

// Strings become text nodes, never markup.

/** Create: `h("p.note", {role: "status"}, "…")`. @param {...(Attributes | Child | Child[])} rest */
export function h(name = "", ...rest) {
	const [tag, ...classes] = name.split(".");
	const element = document.createElement(tag);
	if (classes.length) element.className = classes.join(" ");
	const hasAttributes = rest[0]?.constructor === Object;
	for (const [key, value] of Object.entries(hasAttributes ? /** @type {Attributes} */ (rest.shift()) : {})) {
		if (typeof value === "function") element.onclick = value;
		else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...nodesOf(/** @type {Child[]} */ (rest)));
	return element;
}

/** @param {(Child | Child[])[]} children */
const nodesOf = (children) => children.flat().flatMap((child) => (typeof child === "string" ? new Text(child) : child || []));

/**
 * Set the children. The same ones stay, by data-key or place: they keep focus and map.
 * @param {Element} place @param {...(Child | Child[])} children
 */
export function fill(place, ...children) {
	const nodes = nodesOf(children);
	const keys = nodes.map(keyOf);
	for (const it of [...place.children]) if (!keys.includes(keyOf(it))) it.remove();
	nodes.forEach((node, i) => {
		const at = place.childNodes[i] ?? null;
		if (node === at) return;
		const key = keys[i];
		const old = key ? [...place.children].find((it) => keyOf(it) === key) : at;
		const isSame = old && old !== node && old.nodeName === node.nodeName && keyOf(old) === key;
		if (!isSame) place.insertBefore(node, at);
		// moveBefore keeps focus.
		else if (old !== at) (place.moveBefore ?? place.insertBefore).call(place, old, at);
		if (isSame) become(old, node);
	});
	while (place.childNodes.length > nodes.length) place.lastChild?.remove();
}

/** @param {Node} node */
const keyOf = (node) => (node instanceof HTMLElement ? node.dataset.key : undefined);

/** @param {Node} old @param {Node} node */
function become(old, node) {
	if (!(old instanceof HTMLElement && node instanceof HTMLElement)) {
		if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
		return;
	}
	for (const name of old.getAttributeNames()) if (!node.hasAttribute(name)) old.removeAttribute(name);
	for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
	old.onclick = node.onclick;
	// Custom elements have own children.
	if (!node.localName.includes("-")) fill(old, ...node.childNodes);
}

export const dot = ({ color = "" }) => h("span.dot", { style: `background:${color}` });

/** @type {Record<string, Promise<Localize>>} */
const loading = {};
/** @type {{language: string, localize: Localize}} */
let texts = { language: "", localize: () => "" };

/** @param {Hass} hass */
export async function loadTexts(hass) {
	const { language } = hass.locale;
	loading[language] ??= hass.loadBackendTranslation("config_panel", "bike_tracker");
	await loading[language].then((localize) => (texts = { language, localize }), () => delete loading[language]);
}

/** @type {Localize} */
export const text = (key, values) => texts.localize(`component.bike_tracker.config_panel.${key}`, values) || "";

/** @type {Record<string, string | undefined>} */
const LOCALES = { comma_decimal: "en", decimal_comma: "de", space_comma: "fr", quote_decimal: "de-CH",
	DMY: "sv", MDY: "en", YMD: "en-CA", system: undefined };

class Formats {
	/** @param {Hass} hass */
	constructor({ config, locale: { language, date_format, number_format, time_format, time_zone } }) {
		this.language = language;
		this.zone = time_zone === "server" ? config.time_zone : undefined;
		const chosen = (key = "") => (key in LOCALES ? LOCALES[key] : language);
		this.dates = chosen(date_format);
		this.numbers = chosen(number_format);
		this.useGrouping = number_format !== "none";
		this.isMetric = config.unit_system.length === "km";
		const { [time_format]: hourCycle } = /** @type {any} */ ({ 12: "h12", 24: "h23" });
		const clock = new Intl.DateTimeFormat(chosen(time_format),
			{ hour: "numeric", minute: "2-digit", timeZone: this.zone, hourCycle });
		const keys = new Intl.DateTimeFormat("en", { timeZone: this.zone });
		/** @type {Record<number, string>} */
		const days = {};
		this.time = (at = 0) => clock.format(at);
		// 5,000 rides: 10 ms.
		this.dayKey = (at = 0) => (days[Math.floor(at / MINUTE_MS)] ??= keys.format(at));
	}

	/** @param {Intl.DateTimeFormatOptions} options */
	date(at = 0, options, timeZone = this.zone) {
		return new Date(at).toLocaleDateString(options.month === "numeric" ? this.dates : this.language, { timeZone, ...options });
	}

	day(at = 0) {
		return this.date(at, { day: "numeric", month: "long", ...(Date.now() - at > 300 * DAY_MS ? { year: "numeric" } : { weekday: "long" }) });
	}

	moment(at = 0, known = Date.now()) {
		return (this.dayKey(at) === this.dayKey(known) ? "" : `${this.day(at)}, `) + this.time(at);
	}

	unit(value = 0, unit = "", digits = 0) {
		return value.toLocaleString(this.numbers,
			{ style: "unit", unit, useGrouping: this.useGrouping, minimumFractionDigits: digits, maximumFractionDigits: digits });
	}

	/** Return a distance, or a speed: with "-per-hour". */
	distance(km = 0, per = "") {
		const value = this.isMetric ? km : km / UNITS.mi;
		return this.unit(value, (this.isMetric ? "kilometer" : "mile") + per, per || value >= 99.95 ? 0 : 1);
	}

	duration(seconds = 0) {
		const minutes = Math.round(seconds / 60);
		const hours = minutes >= 60 && this.unit(Math.floor(minutes / 60), "hour");
		const rest = (!hours || minutes % 60) && this.unit(minutes % 60, "minute");
		return [hours, rest].filter(Boolean).join(" ");
	}
}

/** @type {Hass} */
export let hass;
/** @type {Formats} */
export let formats;

/** @param {Hass} now */
export function use(now) {
	if (hass?.locale !== now.locale || hass.config !== now.config) formats = new Formats(now);
	hass = now;
	if (texts.language !== now.locale.language) void loadTexts(now).then(refreshCards);
}

export class Bike {
	/** Of the ride under way, also in an outage. */
	km = 0;
	/** After a theft. @type {Where | undefined} */
	where;

	/** @param {Record<string, string>} has entity IDs by translation key */
	constructor(id = "", has) {
		const { name_by_user, name } = hass.devices[id] ?? {};
		this.id = id;
		this.has = has;
		this.color = colors[has.rides] ?? "gray";
		this.name = name_by_user || name || "";
	}

	state(key = "") {
		const state = hass.states[this.has[key]];
		return ["unavailable", "unknown"].includes(state?.state) ? undefined : state;
	}

	/** Return km, seconds or %, or `before` if unknown. */
	value(key = "", before = NaN) {
		const state = this.state(key);
		return state ? Number(state.state) * (UNITS[state.attributes.unit_of_measurement] ?? 1) : before;
	}

	get isLow() {
		return this.value("battery") < LOW_BATTERY;
	}

	/** Order: triggered, offline, low battery. */
	get weight() {
		if (this.state("guard")?.state === "triggered") return 0;
		return ["off", "unavailable"].includes(hass.states[this.has.online]?.state) ? 1 : this.isLow ? 2 : 3;
	}

	get ride() {
		const event = this.state("ride")?.attributes;
		// A restored event may be old.
		return this.state("rides")?.state !== "off" && event?.event_type === "started" && event;
	}

	/** Zone or address, and end of contact. */
	get place() {
		const tracker = hass.states[this.has.tracker];
		if (tracker.state === "unavailable") return text("no_contact");
		const place = (!this.ride && tracker.state === "not_home" && this.state("address")?.state) || hass.formatEntityState(tracker);
		const online = hass.states[this.has.online], update = this.state("last_update");
		if (!online || !update) return place;
		const [at, updated, last] = [online.last_changed, update.last_changed, update.state].map(Date.parse);
		if (online.state !== "off") return place + (online.state === "on" && Date.now() - last < DAY_MS ? "" : ` · ${formats.moment(last)}`);
		// A restart changes both at once. Then *Last update* is exact.
		const time = formats.moment(at - updated > MINUTE_MS ? at : last);
		return `${place} · ${text("offline_since", { time })}`;
	}
}

/** @type {{entities?: object, devices?: object, bikes: Bike[]}} */
let known = { bikes: [] };
/** Calendar colors: a user may choose them. @type {Record<string, string>} */
const colors = {};

/** Return bikes the user may see, by name. @param {string[]} [only] device IDs */
export function bikesOf(only) {
	const { entities, devices } = hass;
	if (known.entities !== entities || known.devices !== devices) {
		known = { entities, devices, bikes: findBikes() };
		void loadColors();
	}
	return known.bikes.filter(({ id, has }) => hass.states[has.tracker] && (!only?.length || only.includes(id)));
}

function findBikes() {
	/** @type {Record<string, Bike["has"]>} */
	const found = {};
	for (const { platform, device_id, translation_key, entity_id } of Object.values(hass.entities)) {
		if (platform !== "bike_tracker" || !device_id || !translation_key) continue;
		// While triggered, the guard may have another key.
		(found[device_id] ??= {})[translation_key.replace(/guard_.*/, "guard")] = entity_id;
	}
	return Object.keys(found).filter((id) => found[id].tracker).map((id) => new Bike(id, found[id]))
		.sort((one, other) => one.name.localeCompare(other.name, hass.locale.language, { numeric: true }));
}

async function loadColors() {
	const entity_ids = known.bikes.flatMap(({ has }) => has.rides ?? []);
	const entries = await hass.callWS({ type: "config/entity_registry/get_entries", entity_ids }).catch(() => ({}));
	for (const bike of known.bikes) {
		const color = entries[bike.has.rides]?.options?.calendar?.color;
		if (/^#[0-9a-f]{6}$/i.test(color)) colors[bike.has.rides] = bike.color = color;
	}
	refreshCards();
}

/** Changes with rides or contact. @param {Bike[]} bikes */
export const stampOf = (bikes) =>
	JSON.stringify([bikes.map((it) => [it.id, it.state("ride")?.state, !it.state("tracker")]), hass.config.time_zone, Math.floor(Date.now() / FRESH_MS)]);

/** Call an action; throw and `notify` translated errors. @param {string | string[]} device_id */
export async function ask(action = "", data = {}, device_id, notify = false) {
	// Without a loaded account, it would log an error.
	if (!notify && bikesOf([device_id].flat()).every(({ has }) => hass.states[has.tracker].attributes.restored)) throw text("no_contact");
	return (await hass.callService("bike_tracker", action, { ...data, device_id }, {}, notify, true).catch(async (it) => {
		throw (await hass.loadBackendTranslation("exceptions", "bike_tracker"))(`component.bike_tracker.exceptions.${it.translation_key}.message`, it.translation_placeholders) || it.message;
	})).response;
}

/** @type {Set<Card>} */
export const cards = new Set();

export const refreshCards = () => cards.forEach((card) => card.update());

// Midnight changes texts.
setInterval(refreshCards, FRESH_MS);

// Before any card is shown.
const sheet = new CSSStyleSheet();
await fetch(new URL("cards.css", import.meta.url)).then((answer) => answer.text()).then((style) => sheet.replace(style), () => {});

/** Renders if a bike's state changes. */
export class Card extends HTMLElement {
	/** @type {CardConfig} */
	config = { type: "" };
	/** @type {Hass | undefined} */
	shown;
	isWaiting = false;
	root = Object.assign(this.attachShadow({ mode: "open" }), { adoptedStyleSheets: [sheet] });

	/** @param {CardConfig} config */
	setConfig(config) {
		this.config = config;
		this.update();
	}

	/** @param {Hass} now */
	set hass(now) {
		const before = this.shown;
		this.shown = now;
		use(now);
		const isSame = before && ["locale", "config", "entities", "devices"].every((key) => before[key] === now[key])
			&& this.bikes.every(({ has }) => Object.values(has).every((id) => before.states[id] === now.states[id]));
		if (!isSame) this.update();
	}

	get bikes() {
		return bikesOf(this.config.bikes);
	}

	connectedCallback() {
		cards.add(this);
		this.update();
	}

	disconnectedCallback() {
		cards.delete(this);
	}

	/** Render soon, once for all changes. */
	update() {
		if (this.isWaiting || !this.shown) return;
		this.isWaiting = true;
		queueMicrotask(() => {
			this.isWaiting = false;
			if (this.isConnected && texts.language) this.render();
		});
	}

	render() {}

	getCardSize = () => 6;
	getGridOptions = () => ({ columns: "full", min_columns: 6, rows: "auto" });

	/** Options: name and values, the default first. @type {string[][]} */
	static choices = [];

	static getStubConfig() {
		return Object.fromEntries(this.choices);
	}

	static getConfigForm() {
		const bikes = { name: "bikes", selector: { device: { filter: { integration: "bike_tracker" }, multiple: true } } };
		const selects = this.choices.map(([name, ...values]) =>
			({ name, selector: { select: { options: values.map((value) => ({ value, label: text(`form_${value}`) })) } } }));
		return { schema: [bikes, ...selects], computeLabel: ({ name = "" }) => text(`form_${name}`) };
	}
}
