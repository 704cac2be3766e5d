// What all cards share: elements, texts, formats, bikes and the base class.

/** Colors with a contrast of 3 to 1 against white and against dark cards. */
const COLORS = [
  "#1e88e5", "#e65100", "#2e9e4f", "#a74fd0", "#d8416f",
  "#00919c", "#9c7000", "#7a6cf0", "#c2453a", "#6b8e23",
];
const LOW_BATTERY = 20;
const KM_PER_MILE = 1.609344;

/**
 * Create an element. Texts become text nodes: what a server sends is never markup.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] listeners begin with "on"
 * @param {...(Node | string | null | false | undefined | (Node | string | null)[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child) element.append(child);
  return element;
}

/** @param {string} name */
export const icon = (name) => h("ha-icon", { icon: `mdi:${name}`, "aria-hidden": "true" });

/** @param {Bike} bike */
export const dot = (bike) =>
  h("span", { class: "dot", style: `background:${bike.color}`, "aria-hidden": "true" });

// Texts

/** @type {Record<string, Promise<Localize>>} */
const loading = {};
/** @type {{language: string, localize: Localize}} */
let loaded = { language: "", localize: () => "" };

/**
 * Load the texts in the user's language, once.
 * @param {Hass} hass
 */
export async function loadTexts(hass) {
  const { language } = hass.locale;
  loading[language] ??= hass.loadBackendTranslation("config_panel", "bike_tracker");
  try {
    loaded = { language, localize: await loading[language] };
  } catch {
    delete loading[language];
  }
}

/**
 * Return a text, or an empty one before they are loaded.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export const text = (key, values) =>
  loaded.localize(`component.bike_tracker.config_panel.${key}`, values) || "";

// Formats: numbers, times and units as the user and the house have them

const NUMBER_LANGUAGES = /** @type {Record<string, string>} */ ({
  comma_decimal: "en-US", decimal_comma: "de", space_comma: "fr", quote_decimal: "de-CH",
});

export class Formats {
  /** @param {Hass} hass */
  constructor(hass) {
    const { language, number_format, time_format, time_zone } = hass.locale;
    this.language = language;
    this.zone = time_zone === "server" ? hass.config.time_zone : undefined;
    this.numbers = number_format === "system" ? undefined : NUMBER_LANGUAGES[number_format] ?? language;
    this.grouping = number_format !== "none";
    this.isMetric = hass.config.unit_system.length === "km";
    /** @type {Intl.DateTimeFormatOptions} */
    const clock = { hour: "2-digit", minute: "2-digit" };
    if (time_format === "12") clock.hour12 = true;
    else if (time_format === "24") clock.hourCycle = "h23";
    const clockLanguage = time_format === "system" ? undefined : language;
    this._time = new Intl.DateTimeFormat(clockLanguage, { ...clock, timeZone: this.zone });
    this._day = this._dates({ weekday: "long", day: "numeric", month: "long" });
    this._oldDay = this._dates({ day: "numeric", month: "long", year: "numeric" });
    this._dayKey = new Intl.DateTimeFormat("en-CA", { timeZone: this.zone });
    this.today = this.dayKey(new Date());
  }

  /** @param {Intl.DateTimeFormatOptions} options */
  _dates(options) {
    return new Intl.DateTimeFormat(this.language, { timeZone: this.zone, ...options });
  }

  /** @param {number} value @param {string} unit @param {number} digits */
  unit(value, unit, digits) {
    return new Intl.NumberFormat(this.numbers, {
      style: "unit", unit, unitDisplay: "short", useGrouping: this.grouping,
      minimumFractionDigits: digits, maximumFractionDigits: digits,
    }).format(value);
  }

  /** @param {number} km */
  distance(km) {
    const value = this.isMetric ? km : km / KM_PER_MILE;
    return this.unit(value, this.isMetric ? "kilometer" : "mile", value < 99.95 ? 1 : 0);
  }

  /** @param {number} kmh */
  speed(kmh) {
    return this.isMetric
      ? this.unit(kmh, "kilometer-per-hour", 0)
      : this.unit(kmh / KM_PER_MILE, "mile-per-hour", 0);
  }

  /** @param {number} seconds */
  duration(seconds) {
    const minutes = Math.round(seconds / 60);
    const rest = this.unit(minutes % 60, "minute", 0);
    if (minutes < 60) return rest;
    const hours = this.unit(Math.floor(minutes / 60), "hour", 0);
    return minutes % 60 ? `${hours} ${rest}` : hours;
  }

  /** @param {Date} date */
  time(date) {
    return this._time.format(date);
  }

  /** @param {Date} date */
  dayKey(date) {
    return this._dayKey.format(date);
  }

  /** @param {Date} date */
  day(date) {
    const isOld = Date.now() - date.getTime() > 300 * 86_400_000;
    return (isOld ? this._oldDay : this._day).format(date);
  }

  /** The time, with the day unless that is today. @param {Date} date */
  moment(date) {
    const day = this.dayKey(date) === this.today ? "" : `${this.day(date)}, `;
    return day + this.time(date);
  }
}

// Bikes

/** @type {{entities?: object, devices?: object, bikes: Bike[], colors: Record<string, string>}} */
const known = { bikes: [], colors: {} };

/**
 * Return the bikes that the user may see, in order of their names.
 * @param {Hass} hass
 * @param {string[]} [only] device IDs
 * @returns {Bike[]}
 */
export function bikesOf(hass, only) {
  if (known.entities !== hass.entities || known.devices !== hass.devices) {
    known.entities = hass.entities;
    known.devices = hass.devices;
    known.bikes = findBikes(hass);
    void loadColors(hass);
  }
  const isWanted = (/** @type {Bike} */ { id }) => !only?.length || only.includes(id);
  return known.bikes.filter((bike) => hass.states[bike.tracker] && isWanted(bike));
}

/** @param {Hass} hass */
function findBikes(hass) {
  /** @type {Record<string, Record<string, string>>} */
  const found = {};
  for (const { platform, device_id, translation_key, entity_id } of Object.values(hass.entities)) {
    if (platform === "bike_tracker" && device_id && translation_key) {
      (found[device_id] ??= {})[translation_key] = entity_id;
    }
  }
  const collator = new Intl.Collator(hass.locale.language, { numeric: true });
  return Object.keys(found)
    .filter((id) => found[id].tracker)
    .sort()
    .map((id, index) => ({
      id,
      name: hass.devices[id]?.name_by_user || hass.devices[id]?.name || "",
      color: known.colors[found[id].rides] ?? COLORS[index % COLORS.length],
      tracker: found[id].tracker,
      has: found[id],
    }))
    .sort((one, other) => collator.compare(one.name, other.name));
}

/** Take the colors that calendars have, which a user may choose. @param {Hass} hass */
async function loadColors(hass) {
  const calendars = known.bikes.flatMap(({ has }) => has.rides ?? []);
  if (!calendars.length) return;
  const type = "config/entity_registry/get_entries";
  const entries = await hass.callWS({ type, entity_ids: calendars }).catch(() => ({}));
  for (const [entity, entry] of Object.entries(entries)) {
    const color = entry?.options?.calendar?.color;
    if (/^#[0-9a-f]{6}$/i.test(color)) known.colors[entity] = color;
  }
  for (const bike of known.bikes) bike.color = known.colors[bike.has.rides] ?? bike.color;
  refreshCards();
}

/** @param {Hass} hass @param {Bike} bike @param {string} key */
export const stateOf = (hass, bike, key) => hass.states[bike.has[key]];

/** @param {Hass} hass @param {Bike} bike */
export function hasLowBattery(hass, bike) {
  return Number(stateOf(hass, bike, "battery")?.state ?? NaN) < LOW_BATTERY;
}

/** Return the zone, else the address where it stands. @param {Hass} hass @param {Bike} bike */
export function placeOf(hass, bike) {
  const tracker = hass.states[bike.tracker];
  const address = stateOf(hass, bike, "address")?.state ?? "";
  const isKnown = address && !["unknown", "unavailable"].includes(address);
  const stands = stateOf(hass, bike, "motion")?.state !== "on";
  if (tracker.state === "not_home" && isKnown && stands) return address;
  return hass.formatEntityState(tracker);
}

/**
 * Call an action of the integration that answers.
 * @param {Hass} hass @param {string} action @param {object} data @param {string[]} bikes
 */
export async function ask(hass, action, data, bikes) {
  const target = { device_id: bikes };
  const { response } = await hass.callService("bike_tracker", action, data, target, false, true);
  return response;
}

// Cards

/** @type {Set<Card>} */
const cards = new Set();

/** Render all cards again, for example after another ride was chosen. */
export function refreshCards() {
  for (const card of cards) card.update();
}

/** @param {typeof Card} kind */
export const isShown = (kind) => [...cards].some((card) => card instanceof kind);

const STYLE = `
:host { display: block; height: 100%; container-type: inline-size; }
ha-card { height: 100%; box-sizing: border-box; overflow: hidden; display: flex; flex-direction: column; }
h2, h3, p, ul { margin: 0; padding: 0; list-style: none; font-size: inherit; font-weight: 400; }
h2, h3 { font-weight: 500; }
h2 { font-size: 1.15em; }
button { font: inherit; color: inherit; background: none; border: 0; border-radius: 12px; padding: 0;
  min-height: 44px; cursor: pointer; text-align: start; }
button:focus-visible { outline: 2px solid var(--primary-color); outline-offset: -2px; }
button:disabled { opacity: .5; cursor: default; }
button:not(:disabled):hover { background: var(--secondary-background-color); }
.button { padding: 0 14px; background: var(--secondary-background-color); text-align: center; font-weight: 500; }
.primary, .button.primary:hover { background: var(--primary-color); color: var(--text-primary-color); }
.danger, .button.danger:hover { background: var(--error-color); color: #fff; }
.row { display: flex; align-items: center; gap: 8px; min-width: 0; }
.row > .wide, .wide { flex: 1; min-width: 0; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.dot { flex: none; display: inline-block; width: 12px; height: 12px; border-radius: 50%; }
.note { color: var(--secondary-text-color); }
.pad { padding: 12px 16px; }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
:dir(rtl) .flip { transform: scaleX(-1); }
`;

/** The base of the cards: it renders again when one of its bikes has another state. */
export class Card extends HTMLElement {
  static style = "";
  /** @type {Hass} */
  _hass = /** @type {any} */ (null);
  /** @type {Formats} */
  formats = /** @type {any} */ (null);

  constructor() {
    super();
    this.root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE + /** @type {typeof Card} */ (this.constructor).style);
    this.root.adoptedStyleSheets = [sheet];
    /** @type {CardConfig} */
    this.config = { type: "" };
    /** @type {unknown[]} */
    this.seen = [];
    this.isWaiting = false;
  }

  /** @param {CardConfig} config */
  setConfig(config) {
    if (config.bikes !== undefined && !Array.isArray(config.bikes)) {
      throw new Error("bikes must be a list of device IDs");
    }
    this.config = config;
    this.update();
  }

  /** @param {Hass} hass */
  set hass(hass) {
    this._hass = hass;
    if (loaded.language !== hass.locale.language) void loadTexts(hass).then(refreshCards);
    const { entities, devices, locale, config, states, connected } = hass;
    const own = this.bikes.flatMap(({ has }) => Object.values(has).map((id) => states[id]));
    const seen = [entities, devices, locale, config, connected, ...own];
    if (seen.length === this.seen.length && seen.every((it, i) => it === this.seen[i])) return;
    this.seen = seen;
    this.formats = new Formats(hass);
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
    if (this.isWaiting || !this._hass || !this.isConnected) return;
    this.isWaiting = true;
    queueMicrotask(() => {
      this.isWaiting = false;
      if (this.isConnected && loaded.language) this.render(this._hass);
    });
  }

  /** @param {Hass} _hass */
  render(_hass) {}

  /**
   * Replace what an element holds; what had the focus has it again.
   * @param {Element} place @param {...(Node | null | false)} nodes
   */
  fill(place, ...nodes) {
    const key = this.root.activeElement?.getAttribute("data-key");
    place.replaceChildren(...nodes.filter((node) => !!node));
    if (key && !this.root.activeElement) {
      /** @type {HTMLElement | null} */ (place.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
    }
  }

  getCardSize() {
    return 5;
  }

  static getStubConfig() {
    return {};
  }

  /** @param {...object} fields */
  static form(...fields) {
    const device = { filter: { integration: "bike_tracker" }, multiple: true };
    return {
      schema: [{ name: "bikes", selector: { device } }, ...fields],
      computeLabel: (/** @type {{name: string}} */ { name }) => text(`form_${name}`),
    };
  }
}
