// The card with bars: how far each bike was ridden in each week, month or year.

import { ask, Card, cards, choice, dot, h, messageOf, text } from "./base.js";
import { book } from "./book.js";
import { RidesCard } from "./rides.js";

/** How many bars each period has. @type {Record<string, number>} */
const BARS = { week: 8, month: 12, year: 5 };
const BAR_PIXELS = 90;
const FRESH_MS = 300_000;
const MAX_LEGEND = 8;

export class DistanceCard extends Card {
	static fields = [choice("period", ...Object.keys(BARS))];

	card = this.root.appendChild(h("ha-card"));
	key = "";
	loadedAt = 0;
	error = "";
	/** @type {Period[]} */
	periods = [];
	/** The period that was chosen on the card. */
	kind = "";
	/** The start of the bar that was tapped. */
	start = "";
	/** @type {RidesCard | null} */
	list = null;

	get period() {
		return this.kind || this.config.period || "week";
	}

	render() {
		const { periods } = this;
		void this.load();
		const now = periods[periods.length - 1];
		const chosen = periods.find(({ start }) => start === this.start) ?? now;
		const note = this.error || (!this.bikes.length && text("no_bikes")) || (!now && text("loading"));
		const label = chosen === now ? text(`this_${this.period}`) : this.labelOf(chosen, true);
		this.fill(this.card,
			h("div", { class: "row head" },
				h("h2", { class: "wide", "aria-live": "polite" }, label, now && ` ${this.formats.distance(chosen.total.distance)}`),
				h("div", { class: "row kinds", role: "group" }, Object.keys(BARS).map((kind) => h("button",
					{ "data-key": kind, "aria-pressed": String(kind === this.period), onclick: () => this.choose({ kind }) }, text(`form_${kind}`))))),
			note ? h("p", { class: "note pad", role: "status" }, note) : this.barsOf(chosen),
			now && this.legendOf(chosen), this.listOf());
	}

	/** @param {Period} chosen */
	barsOf(chosen) {
		const { periods, formats } = this;
		const most = Math.max(...periods.map(({ total }) => total.distance), 0.001);
		const colors = new Map(this.bikes.map(({ id, color }) => [id, color]));
		return h("ul", { class: "bars" }, periods.map((period) => {
			const { bikes, start, total } = period;
			const label = `${this.labelOf(period, true)}: ${formats.distance(total.distance)}, ${text("rides", { count: total.rides })}`;
			return h("li", {}, h("button", { "data-key": start, "aria-label": label, title: label,
				"aria-pressed": String(start === this.start && period === chosen), onclick: () => this.choose({ start }, period) },
				h("span", { class: "bar" }, bikes.map(({ device_id, distance }) => h("span",
					{ style: `height:${(BAR_PIXELS * distance) / most}px;background:${colors.get(device_id) ?? "gray"}` }))),
				h("span", { class: "label note", "aria-hidden": "true" }, this.labelOf(period, false))));
		}));
	}

	/** @param {Period} chosen */
	legendOf({ bikes }) {
		const ridden = bikes.filter(({ distance }) => distance > 0).sort((one, other) => other.distance - one.distance);
		return h("ul", { class: "legend" }, ridden.slice(0, MAX_LEGEND).map(({ device_id, distance }) => {
			const bike = this.bikes.find(({ id }) => id === device_id);
			return bike && h("li", { class: "row" }, dot(bike), h("span", { class: "wide name" }, bike.name),
				h("span", { class: "number" }, this.formats.distance(distance)));
		}));
	}

	/** @param {Period | undefined} period @param {boolean} isLong */
	labelOf(period, isLong) {
		/** @type {Record<string, Intl.DateTimeFormatOptions>} */
		const options = {
			week: { day: "numeric", month: isLong ? "long" : "numeric" },
			month: isLong ? { month: "long", year: "numeric" } : { month: "narrow" }, year: { year: "numeric" },
		};
		if (!period) return "";
		const date = this.formats.date(Date.parse(period.start), options[this.period], this.hass.config.time_zone);
		return isLong && this.period === "week" ? text("week_of", { date }) : date;
	}

	/** Choose a kind of period, or a bar; again, and it is chosen no more. @param {{kind?: string, start?: string}} choice @param {Period} [period] */
	choose(choice, period) {
		const bar = choice.start !== this.start ? period : undefined;
		Object.assign(this, choice, { start: bar?.start ?? "" });
		const [start, end] = [Date.parse(bar?.start ?? ""), Date.parse(bar?.end ?? "")];
		book.choose({ period: bar ? { start, end, label: this.labelOf(bar, true) } : null });
		if (bar) void book.since(this.hass, start);
	}

	/** Return a list of the rides of a bar, where no other card shows it. */
	listOf() {
		const isShown = [...cards].some((card) => card instanceof RidesCard && card !== this.list);
		if (!book.period || !this.start || isShown) return (this.list = null);
		this.list ??= /** @type {RidesCard} */ (h("bike-tracker-rides-card"));
		this.list.setConfig({ ...this.config, show: "list" });
		this.list.hass = this.hass;
		return this.list;
	}

	async load() {
		const { bikes, hass, period } = this;
		const key = JSON.stringify([period, bikes.map(({ id, has }) => [id, hass.states[has.ride]?.state]), hass.config.time_zone]);
		if (!bikes.length || (key === this.key && Date.now() - this.loadedAt < FRESH_MS)) return;
		Object.assign(this, { key, loadedAt: Date.now() });
		const data = { period, start_date_time: this.first().toISOString() };
		const ids = bikes.map(({ id }) => id);
		const { periods = [], error = "" } = await ask(hass, "get_statistics", data, ids).catch((error) => ({ error: messageOf(error) }));
		if (this.key === key) Object.assign(this, { periods, error });
		this.update();
	}

	/** Return a time in the first period. */
	first() {
		const now = new Date();
		const before = BARS[this.period] - 1;
		if (this.period === "year") return new Date(now.getFullYear() - before, 6);
		return this.period === "month" ? new Date(now.getFullYear(), now.getMonth() - before, 15)
			: new Date(now.getFullYear(), now.getMonth(), now.getDate() - 7 * before);
	}
}
