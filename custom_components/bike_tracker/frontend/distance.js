// Bars: the distance of each week, month or year.

import { ask, bikesOf, Card, DAY_MS, dot, fill, formats, h, hass, stampOf, text } from "./base.js";
import { book } from "./book.js";

const KINDS = ["week", "month", "year"];
const BAR_PIXELS = 90;
const MAX_LEGEND = 8;

export class DistanceCard extends Card {
	static choices = [["period", ...KINDS]];

	card = this.root.appendChild(h("ha-card"));
	stamp = "";
	error = "";
	/** @type {Period[]} */
	periods = [];
	/** The tapped kind and bar. */
	kind = "";
	start = "";

	get period() {
		return this.kind || this.config.period || KINDS[0];
	}

	render() {
		const { periods } = this;
		void this.load();
		const [now] = periods.slice(-1);
		const chosen = periods.find(({ start }) => start === this.start) ?? now;
		const note = this.error || (!this.bikes.length && text("no_bikes")) || (!now && text("loading"));
		const label = chosen === now ? text(`this_${this.period}`) : this.labelOf(chosen, true);
		fill(this.card,
			h("div.row.head",
				h("h2.wide", { "aria-live": "polite" }, label, now && ` · ${formats.distance(chosen.total.distance)}`),
				h("div.row.kinds", { role: "group", "aria-label": text("form_period") }, KINDS.map((kind) => h("button",
					{ "aria-pressed": String(kind === this.period), onclick: () => this.choose("", kind) }, text(`form_${kind}`))))),
			note ? h("p.note.pad", { role: "status" }, note) : this.barsOf(),
			now && this.legendOf(chosen), this.start && now && h("bike-tracker-rides-card.part"));
		const list = /** @type {Card | null} */ (this.card.querySelector("bike-tracker-rides-card"));
		if (list) Object.assign(list, { hass }).setConfig({ ...this.config, show: "list", between: [chosen.start, chosen.end].map(Date.parse) });
	}

	barsOf() {
		const most = Math.max(...this.periods.map(({ total }) => total.distance), 0.001);
		return h("ul.bars", this.periods.map((period) => {
			const { bikes, start, total } = period;
			const label = `${this.labelOf(period, true)}: ${formats.distance(total.distance)}, ${text("rides", { count: total.rides })}`;
			return h("li", h("button", { "aria-label": label, title: label, "aria-pressed": String(start === this.start), onclick: () => this.choose(start) },
				h("span.bar", bikes.map(({ device_id, distance }) => distance > 0 && h("span",
					{ style: `height:${(BAR_PIXELS * distance) / most}px;background:${bikesOf([device_id])[0]?.color ?? "gray"}` }))),
				h("span.label.note", this.labelOf(period))));
		}));
	}

	/** @param {Period} chosen */
	legendOf({ bikes }) {
		return h("ul.legend", bikes.filter((it) => it.distance > 0).sort((one, other) => other.distance - one.distance)
			.slice(0, MAX_LEGEND).map(({ device_id, distance }) => {
				const [bike] = bikesOf([device_id]);
				return bike && h("li.row", dot(bike), h("span.wide.name", bike.name), h("span.number", formats.distance(distance)));
			}));
	}

	/** @param {Period} period */
	labelOf(period, isLong = false) {
		/** @type {Record<string, Intl.DateTimeFormatOptions>} */
		const options = {
			week: { day: "numeric", month: "numeric" },
			month: isLong ? { month: "long", year: "numeric" } : { month: "narrow" }, year: { year: "numeric" },
		};
		const date = formats.date(Date.parse(period.start), options[this.period], hass.config.time_zone);
		return isLong && this.period === "week" ? text("week_of", { date }) : date;
	}

	/** Choose a bar to list its rides, or a kind. */
	choose(start = "", kind = this.kind) {
		if (kind !== this.kind) this.periods = [];
		this.kind = kind;
		this.start = start === this.start ? "" : start;
		const days = (Date.now() - Date.parse(this.start)) / DAY_MS + 1;
		if (this.start) void book.more(Math.ceil(days) - book.days);
		this.update();
	}

	async load() {
		const { bikes, period } = this;
		const stamp = period + stampOf(bikes);
		if (!bikes.length || stamp === this.stamp) return;
		this.stamp = stamp;
		const { periods = this.periods, error = "" } = await ask("get_statistics", { period }, bikes.map(({ id }) => id)).catch((error) => ({ error }));
		if (this.stamp === stamp) Object.assign(this, { periods, error }).update();
	}
}
