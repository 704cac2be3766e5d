// The card with rides: a map and a list.

import { ask, bikesOf, Card, cards, dot, fill, formats, h, hass, text } from "./base.js";
import { book } from "./book.js";
import { RouteMap, routeOf, trackSince } from "./map.js";

export class RidesCard extends Card {
	static choices = [["show", "both", "map", "list"]];

	map = /** @type {RouteMap} */ (h("bike-tracker-map"));
	info = h("div.row.info");
	list = h("div.list");
	more = h("button.button.more", { onclick: () => book.more() });
	watcher = new IntersectionObserver((entries) => !book.error && entries.some((it) => it.isIntersecting) && book.more());
	/** @type {Ride[]} newest first */
	rides = [];
	/** A ride without a route. */
	empty = "";
	/** Formats and bikes of the days. */
	look = "";
	/** @type {Map<string, {rides: Ride[], element: Element}>} */
	days = new Map();

	/** @param {CardConfig} config */
	setConfig(config) {
		const { show } = config;
		if (show !== this.config.show || !this.root.firstChild) this.root.replaceChildren(h("ha-card", h("div.both",
			show !== "list" && h("div.mapped", this.map, this.info), show !== "map" && this.list)));
		super.setConfig(config);
	}

	render() {
		book.follow();
		this.rides = book.of(this.bikes);
		if (this.config.show !== "map") this.renderList();
		if (this.config.show !== "list") void this.renderMap();
	}

	get note() {
		const key = book.isLoading ? "loading" : !this.bikes.length ? "no_bikes" : this.config.between ? "rides" : "no_rides";
		return book.error || text(key, { count: 0 });
	}

	async renderMap() {
		const { bikes } = this;
		const ride = book.chosenOf(this.rides);
		const bike = bikes.find(({ id }) => id === ride?.device_id);
		if (!bike) {
			fill(this.info, this.config.show === "map" && h("p.wide.note", { role: "status" }, this.note));
			return this.map.show(bikes, String(bikes.length));
		}
		this.renderInfo(ride, bike);
		const points = await (ride.ended_at ? routeOf(ride) : trackSince(bike, ride.started_at)).catch(() => undefined);
		if (book.chosenOf(this.rides)?.key !== ride.key) return;
		this.empty = points?.length === 0 ? ride.key : "";
		this.renderInfo(ride, bike);
		await this.map.show(bikes, ride.key, points && { bike, points });
	}

	/** @param {Ride} ride @param {Bike} bike */
	renderInfo(ride, bike) {
		const end = ride.ended_at ? formats.moment(Date.parse(ride.ended_at), ride.at) : text("under_way");
		const { distance, duration, maximum_speed: top } = ride;
		const facts = [distance && formats.distance(distance), duration && formats.duration(duration),
			top && text("maximum", { speed: formats.distance(top, "-per-hour") })].filter(Boolean);
		const places = [ride.start, ride.end].map((place) => place?.zone || place?.address || "?");
		const at = this.rides.findIndex(({ key }) => key === ride.key);
		/** @param {() => void} onclick */
		const button = (key = "", name = "", onclick) => h("button", { title: text(key), disabled: !onclick, onclick },
			h("ha-icon.flip", { icon: `mdi:${name}` }));
		const [earlier, later] = [this.rides[at + 1], this.rides[at - 1]];
		fill(this.info,
			h("div.wide", { "aria-live": "polite" },
				h("div.row", dot(bike), h("h2.name", bike.name)),
				h("p", `${formats.moment(ride.at, 0)} – ${end}`),
				h("p", !ride.ended_at && { "aria-live": "off" }, facts.join(" · ")),
				places.join("") !== "??" && h("p.note", places.join(" – ")),
				this.empty === ride.key && h("p.note", text("no_route"))),
			h("div.row.buttons",
				button("previous", "chevron-left", earlier && (() => book.choose(earlier))),
				button("next", "chevron-right", later && (() => book.choose(later))),
				ride.ended_at && button("gpx", "download", () => this.download(ride).catch(() => {}))));
	}

	/** Download by a signed link, for apps too. Without a route, it may fail. @param {Ride} ride */
	async download({ key, device_id, started_at: start, ended_at: end = "" }) {
		if (key === this.empty) await ask("get_track", { start_date_time: start, end_date_time: end }, device_id, true);
		const path = `/api/bike_tracker/gpx/${device_id}?${new URLSearchParams({ start, end })}`;
		download((await hass.callWS({ type: "auth/sign_path", path })).path);
	}

	renderList() {
		const { bikes, rides } = this;
		const { between } = this.config;
		const look = JSON.stringify([formats, bikes.map(({ id, name, color }) => [id, name, color])]);
		if (look !== this.look) for (const day of this.days.values()) day.rides = [];
		this.look = look;
		/** @type {Map<string, Ride[]>} */
		const days = new Map();
		for (const ride of rides) {
			if (between && (ride.at < between[0] || ride.at >= between[1])) continue;
			const key = formats.dayKey(ride.at);
			if (!days.get(key)?.push(ride)) days.set(key, [ride]);
		}
		fill(this.more, text("earlier"));
		fill(this.list,
			...[...days].sort((one, other) => other[1][0].at - one[1][0].at).map(([key, day]) => this.dayOf(key, day)),
			(!days.size || book.error) && h("p.note.pad", { role: "status" }, this.note),
			!between && !book.isComplete && bikes[0] && this.more);
		// In sight, it is reported again.
		this.watcher.disconnect();
		if (this.more.isConnected && !book.isLoading) this.watcher.observe(this.more);
		this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
		this.list.querySelector(`[data-ride="${book.chosenOf(rides)?.key}"]`)?.setAttribute("aria-current", "true");
	}

	/** Return the section of a day, unchanged if its rides are. @param {Ride[]} rides */
	dayOf(key = "", rides) {
		const before = this.days.get(key);
		if (before?.rides.length === rides.length && rides.every((ride, i) => ride === before.rides[i])) return before.element;
		const km = rides.reduce((sum, ride) => sum + (ride.ended_at ? ride.distance : 0), 0);
		const element = before?.element ?? h("section.day", { "data-key": key });
		fill(element,
			h("h3.row", h("span", formats.day(rides[0].at)), h("span.number", km > 0 && formats.distance(km))),
			h("ul", rides.map((ride) => {
				const [bike] = bikesOf([ride.device_id]);
				return h("li", h("button.row", { "data-ride": ride.key, onclick: () => this.choose(ride) },
					h("span.number", formats.time(ride.at)), dot(bike), h("span.wide.name", bike.name),
					h("span.number", ride.ended_at ? formats.distance(ride.distance) : text("under_way"))));
			})));
		this.days.set(key, { rides, element });
		return element;
	}

	/** @param {Ride} ride */
	choose(ride) {
		book.choose(ride);
		for (const card of cards) if (card instanceof RidesCard) card.map.scrollIntoView({ block: "nearest" });
	}
}

export const download = (href = "", name = "") => h("a", { href, download: name, target: "_blank" }).click();
