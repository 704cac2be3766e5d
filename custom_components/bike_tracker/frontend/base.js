// What all cards share: elements, texts, formats, bikes and the base class.

/** Colors with a contrast of at least 3 to 1 against white and against dark cards. */
const COLORS = ["#1e88e5", "#e65100", "#2e9e4f", "#a74fd0", "#d8416f", "#00919c", "#9c7000", "#7a6cf0", "#c2453a", "#6b8e23"];
const LOW_BATTERY = 20;
const KM_PER_MILE = 1.609344;
export const GONE = ["unavailable", "unknown"];

/**
 * Create an element. Texts become text nodes: what a server sends is never markup.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] listeners are functions under "onclick" and the like
 * @param {...(Child | Child[])} children
 */
export function h(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === "function") element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
		else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : String(value));
	}
	for (const child of children.flat()) if (child) element.append(child);
	return element;
}

/** @param {string} name */
export const icon = (name) => h("ha-icon", { icon: `mdi:${name}`, "aria-hidden": "true" });

/** @param {Bike} bike */
export const dot = ({ color }) => h("span", { class: "dot", style: `background:${color}`, "aria-hidden": "true" });

// Texts

/** @type {Record<string, Promise<Localize>>} */
const loading = {};
/** @type {{language: string, localize: Localize}} */
let texts = { language: "", localize: () => "" };

/** Load the texts in the user's language, once. @param {Hass} hass */
export async function loadTexts(hass) {
	const { language } = hass.locale;
	loading[language] ??= hass.loadBackendTranslation("config_panel", "bike_tracker");
	await loading[language].then((localize) => (texts = { language, localize }), () => delete loading[language]);
}

/** Return a text, an empty one before they are loaded. @type {Localize} */
export const text = (key, values) => texts.localize(`component.bike_tracker.config_panel.${key}`, values) || "";

// Formats: numbers, times and units as the user and the house have them

/** @type {Record<string, string | undefined>} */
const NUMBERS = { comma_decimal: "en-US", decimal_comma: "de", space_comma: "fr", quote_decimal: "de-CH", system: undefined };

export class Formats {
	/** @param {Hass} hass */
	constructor({ config, locale: { language, number_format, time_format, time_zone } }) {
		this.language = language;
		this.zone = time_zone === "server" ? config.time_zone : undefined;
		this.numbers = number_format in NUMBERS ? NUMBERS[number_format] : language;
		this.useGrouping = number_format !== "none";
		this.isMetric = config.unit_system.length === "km";
		/** @type {Intl.DateTimeFormatOptions} */
		const clock = { hour: "numeric", minute: "2-digit", timeZone: this.zone };
		if (time_format === "12") clock.hour12 = true;
		if (time_format === "24") clock.hourCycle = "h23";
		const times = new Intl.DateTimeFormat(time_format === "system" ? undefined : language, clock);
		const keys = new Intl.DateTimeFormat("en-CA", { timeZone: this.zone });
		this.time = (/** @type {number} */ at) => times.format(at);
		this.dayKey = (/** @type {number} */ at) => keys.format(at);
	}

	/** @param {number} at @param {Intl.DateTimeFormatOptions} options */
	date(at, options, timeZone = this.zone) {
		return new Intl.DateTimeFormat(this.language, { timeZone, ...options }).format(at);
	}

	/** @param {number} at */
	day(at) {
		const isOld = Date.now() - at > 300 * 86_400_000;
		return this.date(at, { day: "numeric", month: "long", ...(isOld ? { year: "numeric" } : { weekday: "long" }) });
	}

	/** Return the time, with the day unless that is today. @param {number} at */
	moment(at) {
		return (this.dayKey(at) === this.dayKey(Date.now()) ? "" : `${this.day(at)}, `) + this.time(at);
	}

	/** @param {number} value @param {string} unit */
	unit(value, unit, digits = 0) {
		return new Intl.NumberFormat(this.numbers, {
			style: "unit", unit, useGrouping: this.useGrouping, minimumFractionDigits: digits, maximumFractionDigits: digits,
		}).format(value);
	}

	/** @param {number} km */
	distance(km) {
		const value = this.isMetric ? km : km / KM_PER_MILE;
		return this.unit(value, this.isMetric ? "kilometer" : "mile", value < 99.95 ? 1 : 0);
	}

	/** @param {number} kmh */
	speed(kmh) {
		return this.isMetric ? this.unit(kmh, "kilometer-per-hour") : this.unit(kmh / KM_PER_MILE, "mile-per-hour");
	}

	/** @param {number} seconds */
	duration(seconds) {
		const minutes = Math.round(seconds / 60);
		const parts = minutes < 60 ? [] : [this.unit(Math.floor(minutes / 60), "hour")];
		if (minutes % 60 || !parts.length) parts.push(this.unit(minutes % 60, "minute"));
		return parts.join(" ");
	}
}

// Bikes

/** @type {{entities?: object, devices?: object, bikes: Bike[]}} */
const known = { bikes: [] };
/** @type {Record<string, string>} */
const colors = {};

/** Return the bikes that the user may see, by name. @param {Hass} hass @param {string[]} [only] device IDs */
export function bikesOf(hass, only) {
	const { entities, devices } = hass;
	if (known.entities !== entities || known.devices !== devices) {
		Object.assign(known, { entities, devices, bikes: findBikes(hass) });
		void loadColors(hass);
	}
	return known.bikes.filter(({ id, tracker }) => hass.states[tracker] && (!only?.length || only.includes(id)));
}

/** @param {Hass} hass @returns {Bike[]} */
function findBikes({ entities, devices, locale }) {
	/** @type {Record<string, Record<string, string>>} */
	const found = {};
	for (const { platform, device_id, translation_key, entity_id } of Object.values(entities)) {
		if (platform === "bike_tracker" && device_id && translation_key) (found[device_id] ??= {})[translation_key] = entity_id;
	}
	const { compare } = new Intl.Collator(locale.language, { numeric: true });
	return Object.keys(found).filter((id) => found[id].tracker).sort().map((id, index) => ({
		id, name: devices[id]?.name_by_user || devices[id]?.name || "", tracker: found[id].tracker, has: found[id],
		color: colors[found[id].rides] ?? COLORS[index % COLORS.length],
	})).sort((one, other) => compare(one.name, other.name));
}

/** Take the colors that the calendars have: a user may choose them. @param {Hass} hass */
async function loadColors(hass) {
	const entity_ids = known.bikes.flatMap(({ has }) => has.rides ?? []);
	if (!entity_ids.length) return;
	const entries = await hass.callWS({ type: "config/entity_registry/get_entries", entity_ids }).catch(() => ({}));
	for (const id of entity_ids) {
		const color = entries[id]?.options?.calendar?.color;
		if (/^#[0-9a-f]{6}$/i.test(color)) colors[id] = color;
	}
	known.bikes = known.bikes.map((bike) => ({ ...bike, color: colors[bike.has.rides] ?? bike.color }));
	refreshCards();
}

/** @type {OfBike<HassState | undefined>} */
export const stateOf = (hass, bike, key = "") => hass.states[bike.has[key]];

/** @type {OfBike<boolean>} */
export const hasLowBattery = (hass, bike) => Number(stateOf(hass, bike, "battery")?.state ?? NaN) < LOW_BATTERY;

/** Return the zone, else the address where it stands. @type {OfBike<string>} */
export function placeOf(hass, bike) {
	const tracker = hass.states[bike.tracker];
	const address = stateOf(hass, bike, "address")?.state ?? "";
	const stands = stateOf(hass, bike, "motion")?.state !== "on";
	const isBest = tracker.state === "not_home" && stands && address && !GONE.includes(address);
	return isBest ? address : hass.formatEntityState(tracker);
}

/** Call an action that answers. @param {Hass} hass @param {string} action @param {object} data @param {string[]} [bikes] */
export async function ask(hass, action, data, bikes) {
	const target = bikes && { device_id: bikes };
	return (await hass.callService("bike_tracker", action, data, target, false, true)).response;
}

/** @param {unknown} error */
export const messageOf = (error) => /** @type {Error} */ (error)?.message || String(error);

// Cards

/** @type {Set<Card>} */
export const cards = new Set();

/** Render all cards again, for example after another ride was chosen. */
export function refreshCards() {
	for (const card of cards) card.update();
}

// Before any card is shown.
const sheet = new CSSStyleSheet();
await fetch(new URL("cards.css", import.meta.url)).then((answer) => answer.text()).then((style) => sheet.replace(style), () => {});

/** The base of the cards: it renders again when one of its bikes has another state. */
export class Card extends HTMLElement {
	/** @type {CardConfig} */
	config = { type: "" };
	/** @type {Hass} */
	_hass = /** @type {any} */ (null);
	/** @type {Formats} */
	formats = /** @type {any} */ (null);
	/** @type {unknown[]} */
	seen = [];
	isWaiting = false;
	root = this.attachShadow({ mode: "open" });

	constructor() {
		super();
		this.root.adoptedStyleSheets = [sheet];
	}

	/** @param {CardConfig} config */
	setConfig(config) {
		if (!Array.isArray(config.bikes ?? [])) throw new Error("bikes must be a list of device IDs");
		this.config = config;
		this.update();
	}

	set hass(hass) {
		this._hass = hass;
		if (texts.language !== hass.locale.language) void loadTexts(hass).then(refreshCards);
		const states = this.bikes.flatMap(({ has }) => Object.values(has).map((id) => hass.states[id]));
		const seen = [hass.entities, hass.devices, hass.locale, hass.config, hass.connected, ...states];
		if (seen.length === this.seen.length && seen.every((it, i) => it === this.seen[i])) return;
		if (seen.slice(2, 4).some((it, i) => it !== this.seen[i + 2])) this.formats = new Formats(hass);
		this.seen = seen;
		this.update();
	}

	get hass() {
		return this._hass;
	}

	get bikes() {
		return bikesOf(this._hass, this.config.bikes);
	}

	connectedCallback() {
		cards.add(this);
		this.update();
	}

	disconnectedCallback() {
		cards.delete(this);
	}

	/** Render soon, once for all changes of this moment. */
	update() {
		if (this.isWaiting || !this._hass) return;
		this.isWaiting = true;
		queueMicrotask(() => {
			this.isWaiting = false;
			if (this.isConnected && texts.language) this.render();
		});
	}

	render() {}

	/** Replace what an element holds; what had the focus has it again. @param {Element} place @param {...Child} nodes */
	fill(place, ...nodes) {
		const key = this.root.activeElement?.getAttribute("data-key");
		place.replaceChildren(...nodes.flatMap((node) => node || []));
		if (!key || this.root.activeElement) return;
		/** @type {HTMLElement | null} */ (place.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
	}

	/** @param {string} type @param {object} detail */
	fire(type, detail) {
		this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
	}

	getCardSize() {
		return 6;
	}

	getGridOptions() {
		return { columns: "full", min_columns: 6, rows: "auto" };
	}

	static getStubConfig() {
		return {};
	}

	/** @type {object[]} */
	static fields = [];

	static getConfigForm() {
		const device = { filter: { integration: "bike_tracker" }, multiple: true };
		const computeLabel = (/** @type {{name: string}} */ { name }) => text(`form_${name}`);
		return { schema: [{ name: "bikes", selector: { device } }, ...this.fields], computeLabel };
	}
}

/** @param {string} name @param {string[]} options */
export const choice = (name, ...options) => ({
	name, default: options[0],
	selector: { select: { mode: "dropdown", options: options.map((value) => ({ value, get label() { return text(`form_${value}`); } })) } },
});
