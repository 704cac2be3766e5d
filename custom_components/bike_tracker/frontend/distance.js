// The card with bars: how far each bike was ridden in each week, month or year.

import { ask, Card, dot, h, isShown, text } from "./base.js";
import { book } from "./book.js";
import { choosePeriod, RidesCard } from "./rides.js";

const PERIODS = /** @type {Record<string, number>} */ ({ week: 8, month: 12, year: 5 });
const FRESH_MS = 300_000;
const MAX_LEGEND = 8;

export class DistanceCard extends Card {
  static style = `
.head { flex-wrap: wrap; padding: 12px 16px 0; }
.kinds button { padding: 0 12px; color: var(--secondary-text-color); }
.kinds button[aria-pressed="true"] { color: var(--primary-text-color); background: var(--secondary-background-color); }
.bars { display: flex; align-items: stretch; gap: 2px; height: 150px; padding: 8px 12px 0; }
.bars li { flex: 1; min-width: 0; display: flex; }
.bars button { flex: 1; min-width: 0; display: flex; flex-direction: column; justify-content: end;
  align-items: center; border-radius: 8px 8px 0 0; }
.bars button[aria-pressed="true"] { background: var(--secondary-background-color); }
.bar { width: 60%; max-width: 40px; display: flex; flex-direction: column-reverse; border-radius: 4px 4px 0 0;
  overflow: hidden; border-bottom: 1px solid var(--divider-color); }
.label { font-size: .75em; color: var(--secondary-text-color); white-space: nowrap; padding: 4px 0; }
.legend { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 4px 16px; padding: 8px 16px 16px; }`;

  constructor() {
    super();
    /** @type {{answer?: Statistics, error?: string, key: string, at: number}} */
    this.loaded = { key: "", at: 0 };
    /** @type {string | null} */
    this.kind = null;
    /** @type {string | null} */
    this.start = null;
    this.ownList = /** @type {RidesCard | null} */ (null);
  }

  get period() {
    const kind = this.kind ?? this.config.period ?? "week";
    return kind in PERIODS ? kind : "week";
  }

  /** @param {Hass} hass */
  render(hass) {
    void this.load(hass);
    const { answer, error } = this.loaded;
    const periods = answer?.periods ?? [];
    const chosen = periods.find(({ start }) => start === this.start) ?? periods[periods.length - 1];
    const note = error || (!this.bikes.length && text("no_bikes")) || (!answer && text("loading"));
    const list = this.listOf(hass);
    if (!this.root.firstChild) this.root.append(h("ha-card"));
    this.fill(/** @type {Element} */ (this.root.firstChild),
      this.headOf(chosen, chosen === periods[periods.length - 1]),
      note ? h("p", { class: "note pad", role: "status" }, note) : this.barsOf(periods, chosen),
      chosen && this.legendOf(chosen), list);
  }

  /** @param {Period | undefined} chosen @param {boolean} isNow */
  headOf(chosen, isNow) {
    const label = isNow || !chosen ? text(`this_${this.period}`) : this.labelOf(chosen, true);
    return h("div", { class: "row head" },
      h("h2", { class: "wide", "aria-live": "polite" }, label, " ",
        chosen && h("span", { class: "number" }, this.formats.distance(chosen.total.distance))),
      h("div", { class: "row kinds", role: "group" }, Object.keys(PERIODS).map((kind) =>
        h("button", { "data-key": kind, "aria-pressed": String(kind === this.period), onclick: () => {
          Object.assign(this, { kind, start: null });
          choosePeriod(null);
          this.update();
        } }, text(kind)))));
  }

  /** @param {Period[]} periods @param {Period} chosen */
  barsOf(periods, chosen) {
    const most = Math.max(...periods.map(({ total }) => total.distance), 0.001);
    const every = Math.ceil(periods.length / 8);
    const colors = new Map(this.bikes.map((bike) => [bike.id, bike.color]));
    return h("ul", { class: "bars" }, ...periods.map((period, index) => {
      const { distance, rides } = period.total;
      const label = `${this.labelOf(period, true)}: ${this.formats.distance(distance)}, ${text("rides", { count: rides })}`;
      const parts = period.bikes.filter((bike) => bike.distance > 0).map((bike) => h("span", {
        style: `height:${(90 * bike.distance) / most}px;background:${colors.get(bike.device_id) ?? "gray"}` }));
      return h("li", {}, h("button", { "data-key": period.start, "aria-label": label, title: label,
        "aria-pressed": String(period === chosen && !!this.start), onclick: () => this.choose(period) },
        h("span", { class: "bar" }, parts),
        h("span", { class: "label", "aria-hidden": "true" },
          (periods.length - 1 - index) % every ? "\u00a0" : this.labelOf(period, false))));
    }));
  }

  /** @param {Period} chosen */
  legendOf(chosen) {
    const named = new Map(this.bikes.map((bike) => [bike.id, bike]));
    const ridden = chosen.bikes.filter((bike) => bike.distance > 0 || this.bikes.length <= 5);
    ridden.sort((one, other) => other.distance - one.distance);
    return h("ul", { class: "legend" }, ...ridden.slice(0, MAX_LEGEND).map(({ device_id, distance }) => {
      const bike = named.get(device_id);
      return bike ? h("li", { class: "row" }, dot(bike), h("span", { class: "wide name" }, bike.name),
        h("span", { class: "number" }, this.formats.distance(distance))) : null;
    }).filter(Boolean));
  }

  /** @param {Period} period @param {boolean} isLong */
  labelOf({ start }, isLong) {
    const date = new Date(start);
    const timeZone = this.hass.config.time_zone;
    /** @type {Intl.DateTimeFormatOptions} */
    const options = this.period === "year" ? { year: "numeric" }
      : this.period === "month" ? { month: isLong ? "long" : "narrow", ...(isLong && { year: "numeric" }) }
        : { day: "numeric", month: isLong ? "long" : "numeric" };
    const label = new Intl.DateTimeFormat(this.formats.language, { timeZone, ...options }).format(date);
    return isLong && this.period === "week" ? text("week_of", { date: label }) : label;
  }

  /** @param {Period} period */
  choose(period) {
    const isSame = this.start === period.start;
    this.start = isSame ? null : period.start;
    const [start, end] = [Date.parse(period.start), Date.parse(period.end)];
    choosePeriod(isSame ? null : { start, end, label: this.labelOf(period, true) });
    if (!isSame) void book.since(this.hass, start);
  }

  /** Return a list of the rides of a bar, where no other card shows it. @param {Hass} hass */
  listOf(hass) {
    if (!book.period || (!this.ownList && isShown(RidesCard))) this.ownList = null;
    else if (this.start && !this.ownList) {
      this.ownList = /** @type {RidesCard} */ (h("bike-tracker-rides-card"));
      this.ownList.setConfig({ type: "", bikes: this.config.bikes, show: "list" });
    }
    if (this.ownList) this.ownList.hass = hass;
    return this.ownList;
  }

  /** @param {Hass} hass */
  async load(hass) {
    const bikes = this.bikes.map(({ id }) => id);
    const ended = this.bikes.map(({ has }) => hass.states[has.ride]?.state).join();
    const key = [this.period, bikes, ended, hass.config.time_zone].join();
    if (!bikes.length || (key === this.loaded.key && Date.now() - this.loaded.at < FRESH_MS)) return;
    this.loaded = { answer: this.loaded.answer, key, at: Date.now() };
    const data = { period: this.period, start_date_time: this.first().toISOString() };
    try {
      const answer = /** @type {Statistics} */ (await ask(hass, "get_statistics", data, bikes));
      if (this.loaded.key === key) this.loaded = { answer, key, at: Date.now() };
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      if (this.loaded.key === key) this.loaded = { error: message || String(error), key, at: Date.now() };
    }
    this.update();
  }

  /** Return a time in the first period. */
  first() {
    const now = new Date();
    const before = PERIODS[this.period] - 1;
    if (this.period === "week") now.setDate(now.getDate() - 7 * before);
    else if (this.period === "month") now.setMonth(now.getMonth() - before, 15);
    else now.setFullYear(now.getFullYear() - before, 6, 1);
    return now;
  }

  getCardSize() {
    return 5;
  }

  getGridOptions() {
    return { columns: 12, min_columns: 6, rows: "auto" };
  }

  static getConfigForm() {
    const options = Object.keys(PERIODS).map((value) => ({ value, label: text(value) }));
    return Card.form({ name: "period", default: "week", selector: { select: { options } } });
  }
}
