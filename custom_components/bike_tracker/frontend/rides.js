// The card with rides: a map with the chosen one, and the list by day.

import { Card, cards, choice, dot, h, icon, text } from "./base.js";
import { book } from "./book.js";
import { RouteMap, routeOf, trackSince } from "./map.js";

export class RidesCard extends Card {
	static fields = [choice("show", "both", "map", "list")];

	map = new RouteMap();
	info = h("div", { class: "row info" });
	list = h("div", { class: "list" });
	more = h("button", { class: "button more", "data-key": "more", onclick: () => book.more(this.hass) });
	watcher = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && !book.error && book.more(this.hass));
	/** @type {unknown[]} */
	drawn = [];
	/** @type {Map<string, {rides: string, element: Element}>} */
	days = new Map();

	disconnectedCallback() {
		super.disconnectedCallback();
		this.watcher.disconnect();
		this.drawn = [];
	}

	/** @param {CardConfig} config */
	setConfig(config) {
		super.setConfig(config);
		this.root.replaceChildren(h("ha-card", {}, h("div", { class: "both" },
			config.show !== "list" && h("div", { class: "mapped" }, this.map.element, this.info), config.show !== "map" && this.list)));
	}

	render() {
		book.follow(this.hass);
		const rides = book.of(this.hass, this.bikes);
		if (this.config.show !== "map") this.renderList(rides);
		if (this.config.show !== "list") void this.renderMap(rides);
	}

	/** Return why there are no rides. */
	get note() {
		return book.error || text(book.isLoading ? "loading" : this.bikes.length ? "no_rides" : "no_bikes");
	}

	/** @param {Ride[]} rides newest first */
	async renderMap(rides) {
		const { bikes, hass } = this;
		const ride = book.chosenOf(rides);
		const bike = bikes.find(({ id }) => id === ride?.device_id);
		if (!bike) {
			this.fill(this.info, h("p", { class: "wide note", role: "status" }, this.note));
			return this.map.show(bikes, String(bikes.length));
		}
		this.renderInfo(ride, bike, rides);
		const isOpen = !ride.ended_at;
		const points = await (isOpen ? trackSince(hass, bike, ride.started_at) : routeOf(hass, ride)).catch(() => []);
		if (book.chosenOf(book.of(this.hass, bikes))?.key !== ride.key) return;
		if (!points.length) this.info.querySelector(".wide")?.append(h("p", { class: "note" }, text("no_route")));
		await this.map.show(bikes, `${ride.key} ${points.length > 0}`, { bike, points, isOpen });
	}

	/** @param {Ride} ride @param {Bike} bike @param {Ride[]} rides */
	renderInfo(ride, bike, rides) {
		const { formats } = this;
		const end = ride.ended_at ? formats.time(Date.parse(ride.ended_at)) : text("under_way");
		const facts = [formats.distance(ride.distance), formats.duration(ride.duration)];
		if (ride.maximum_speed) facts.push(text("maximum", { speed: formats.speed(ride.maximum_speed) }));
		const places = [ride.start, ride.end].map((place) => place?.zone || place?.address);
		const at = rides.findIndex(({ key }) => key === ride.key);
		/** @param {string} key @param {string} name @param {() => void} [onclick] */
		const button = (key, name, onclick) => h("button",
			{ "data-key": key, "aria-label": text(key), title: text(key), disabled: !onclick, onclick }, h("span", { class: "flip" }, icon(name)));
		/** @param {Ride | undefined} to */
		const go = (to) => to && (() => book.choose({ chosen: to.key }));
		this.fill(this.info,
			h("div", { class: "wide", "aria-live": "polite" },
				h("div", { class: "row" }, dot(bike), h("h2", { class: "name" }, bike.name)),
				h("p", {}, `${formats.day(ride.at)}, ${formats.time(ride.at)} – ${end}`),
				h("p", {}, facts.join(" · ")),
				places.some(Boolean) && h("p", { class: "note" }, places.map((place) => place || "?").join(" → "))),
			h("div", { class: "row buttons" },
				button("previous", "chevron-left", go(rides[at + 1])), button("next", "chevron-right", go(rides[at - 1])),
				!!ride.ended_at && button("gpx", "download", () => this.download(ride))));
	}

	/** Download a ride by a signed link, which apps can open as well. @param {Ride} ride */
	async download(ride) {
		const times = new URLSearchParams({ start: ride.started_at, end: ride.ended_at ?? "" });
		const path = `/api/bike_tracker/gpx/${ride.device_id}?${times}`;
		download((await this.hass.callWS({ type: "auth/sign_path", path })).path, `${ride.name} ${ride.started_at.slice(0, 10)}.gpx`);
	}

	/** @param {Ride[]} rides */
	renderList(rides) {
		const { bikes } = this;
		const { period } = book;
		const open = rides.filter(({ ended_at }) => !ended_at).map(({ key }) => key).join();
		const drawn = [book.rides, open, period, book.error, book.isLoading, book.isComplete, this.formats, JSON.stringify(bikes)];
		if (drawn.some((it, i) => it !== this.drawn[i])) {
			this.drawn = drawn;
			this.drawList(bikes, period ? rides.filter(({ at }) => at >= period.start && at < period.end) : rides);
		}
		this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
		const chosen = CSS.escape(book.chosenOf(rides)?.key ?? "");
		this.list.querySelector(`li [data-key="${chosen}"]`)?.setAttribute("aria-current", "true");
	}

	/** @param {Bike[]} bikes @param {Ride[]} rides */
	drawList(bikes, rides) {
		const { period } = book;
		/** @type {Map<string, Ride[]>} */
		const days = new Map();
		for (const ride of rides) {
			const key = this.formats.dayKey(ride.at);
			const day = days.get(key);
			if (day) day.push(ride);
			else days.set(key, [ride]);
		}
		const elements = [...days].map(([key, day]) => this.dayOf(key, day, bikes));
		this.more.textContent = text("earlier");
		this.watcher.disconnect();
		this.fill(this.list,
			period && h("div", { class: "row" }, h("h2", { class: "wide" }, period.label),
				h("button", { class: "button", "data-key": "all", onclick: () => book.choose({ period: null }) }, text("all_rides"))),
			...elements,
			(!rides.length || book.error) && h("p", { class: "note pad", role: "status" }, this.note),
			!period && !book.isComplete && bikes.length > 0 && this.more);
		if (this.more.isConnected) this.watcher.observe(this.more);
	}

	/** Return the section of a day, the same one while its rides are the same. @param {string} key @param {Ride[]} rides @param {Bike[]} bikes */
	dayOf(key, rides, bikes) {
		const { formats } = this;
		const named = new Map(bikes.map((bike) => [bike.id, bike]));
		const now = JSON.stringify([rides, bikes.length < 100 && bikes, formats]);
		const before = this.days.get(key);
		if (before?.rides === now) return before.element;
		const km = rides.reduce((sum, { distance }) => sum + distance, 0);
		const element = h("section", { class: "day" },
			h("h3", { class: "row" }, h("span", {}, formats.day(rides[0].at)), h("span", { class: "number" }, formats.distance(km))),
			h("ul", {}, rides.map((ride) => {
				const bike = /** @type {Bike} */ (named.get(ride.device_id));
				return h("li", {}, h("button", { class: "row", "data-key": ride.key, onclick: () => this.choose(ride) },
					h("span", { class: "number" }, formats.time(ride.at)), dot(bike), h("span", { class: "wide name" }, bike.name),
					h("span", { class: "number" }, ride.ended_at ? formats.distance(ride.distance) : text("under_way"))));
			})));
		this.days.set(key, { rides: now, element });
		return element;
	}

	/** Show a ride of the list on the map, which may be out of sight on a phone. @param {Ride} ride */
	choose(ride) {
		book.choose({ chosen: ride.key });
		for (const card of cards) if (card instanceof RidesCard && card.config.show !== "list") card.map.element.scrollIntoView({ block: "nearest" });
	}
}

/** @param {string} href @param {string} name */
export function download(href, name) {
	const link = h("a", { href, download: name, target: "_blank" });
	document.body.append(link);
	link.click();
	link.remove();
}
