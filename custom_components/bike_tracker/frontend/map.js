// Home Assistant's own map with a route on it, and the requests for routes.

import { ask, h } from "./base.js";

const MAX_POINTS = 500;
/** Releases before 2026.10 ignore a fit until the map is loaded, and do not tell when that is. */
const FITS_AFTER_MS = [0, 300, 1000, 2500, 6000];
/** @type {Promise<unknown> | undefined} */
let ready;

/** Have Home Assistant load its map. */
async function loadMap() {
	const helpers = await window.loadCardHelpers();
	helpers.createCardElement({ type: "map", entities: [] });
	await customElements.whenDefined("ha-map");
}

/** A map that shows bikes and one route. */
export class RouteMap {
	element = h("div", { class: "map" });
	/** @type {HaMap | undefined} */
	map;
	/** @type {number[]} */
	timers = [];
	shown = "";

	constructor() {
		const stop = () => this.timers.forEach(clearTimeout);
		for (const type of ["pointerdown", "wheel", "keydown"]) this.element.addEventListener(type, stop, { capture: true, passive: true });
	}

	/** Show a route, or the bikes alone; another key has the map fit. @param {Bike[]} bikes @param {string} key @param {Route} [route] */
	async show(bikes, key, route) {
		await (ready ??= loadMap());
		if (!this.map) {
			this.map = /** @type {HaMap} */ (h("ha-map"));
			Object.assign(this.map, { zoom: 16, clusterMarkers: bikes.length > 5, interactiveZones: true });
			this.element.append(this.map);
		}
		const { map } = this;
		const points = route?.points.map(({ point }) => point) ?? [];
		const entities = bikes.map(({ tracker, color }) => ({ entity_id: tracker, color }));
		if (JSON.stringify(entities) !== JSON.stringify(map.entities)) map.entities = entities;
		map.autoFit = !points.length;
		map.paths = route && points.length ? pathsOf(route) : [];
		if (key === this.shown) return;
		const fit = () => (points.length ? map.fitBounds(points, { zoom: 16, pad: 0.25 }) : map.fitMap({ unpause_autofit: true }));
		this.timers.forEach(clearTimeout);
		this.timers = FITS_AFTER_MS.slice(0, this.shown ? 1 : undefined).map((ms) => window.setTimeout(fit, ms));
		this.shown = key;
	}
}

/** Return the line, with its start and its end as points of their own. @param {Route} route */
function pathsOf({ bike, points, isOpen }) {
	const step = Math.ceil(points.length / MAX_POINTS);
	const some = points.filter((_, i) => i % step === 0 || i === points.length - 1);
	const path = { points: some, name: bike.name, color: bike.color, fullDatetime: true };
	const ends = isOpen ? [some[0]] : [some[0], some[some.length - 1]];
	return [path, ...ends.map((end) => ({ ...path, points: [end] }))];
}

/** Return the points of an encoded polyline: Google's algorithm, precision 5. @param {string} route */
function decode(route) {
	/** @type {[number, number][]} */
	const points = [];
	const last = [0, 0];
	let number = 0, shift = 0, count = 0;
	for (let at = 0; at < route.length; at++) {
		const byte = route.charCodeAt(at) - 63;
		number |= (byte & 31) << shift;
		shift += 5;
		if (byte >= 32) continue;
		last[count % 2] += number & 1 ? ~(number >> 1) : number >> 1;
		if (count++ % 2) points.push([last[0] / 1e5, last[1] / 1e5]);
		number = shift = 0;
	}
	return points;
}

/** Let longitudes go on beyond 180 degrees. @param {[number, number][]} points */
function unwrap(points) {
	points.forEach((point, i) => i && (point[1] -= 360 * Math.round((point[1] - points[i - 1][1]) / 360)));
	return points;
}

/** @type {Map<string, Promise<TimedPoint[]>>} */
const routes = new Map();

/** Load something once, unless that fails. @param {string} key @param {() => Promise<TimedPoint[]>} load */
function once(key, load) {
	const route = routes.get(key) ?? load();
	routes.set(key, route);
	route.catch(() => routes.delete(key));
	return route;
}

/** Return the route of a ride: no points if it has none. @param {Hass} hass @param {Ride} ride */
export const routeOf = (hass, ride) => once(ride.key + ride.ended_at, async () => {
	const times = { start_date_time: ride.started_at, end_date_time: ride.ended_at, routes: true };
	const { rides } = await ask(hass, "get_rides", times, [ride.device_id]);
	const { route } = rides.find((/** @type {Ride} */ it) => it.started_at === ride.started_at) ?? {};
	return withTimes(unwrap(decode(route ?? "")), ride.at, Date.parse(ride.ended_at ?? ""));
});

/** Give each point the time at which a steady rider passes it. @param {[number, number][]} points @param {number} start @param {number} end */
function withTimes(points, start, end) {
	let length = 0;
	const lengths = points.map(([latitude, longitude], i) => {
		const [north, east] = points[Math.max(i - 1, 0)];
		return (length += Math.hypot(latitude - north, (longitude - east) * Math.cos((latitude * Math.PI) / 180)));
	});
	return points.map((point, i) => ({ point, timestamp: new Date(start + ((end - start) * lengths[i]) / (length || 1)) }));
}

/** Return where a bike has been since a time, as Home Assistant recorded it. @param {Hass} hass @param {Bike} bike @param {string} since */
export function trackSince(hass, { tracker }, since) {
	const { attributes, last_updated } = hass.states[tracker];
	return once([tracker, since, last_updated].join(), async () => {
		const history = await hass.callWS({
			type: "history/history_during_period", start_time: since, entity_ids: [tracker],
			minimal_response: false, no_attributes: false, significant_changes_only: false,
		}).catch(() => ({}));
		/** @type {{a: HassState["attributes"], lu: number}[]} */
		const states = [...(history[tracker] ?? []), { a: attributes, lu: Date.parse(last_updated) / 1000 }];
		const places = states.filter(({ a }) => typeof a?.latitude === "number");
		const points = unwrap(places.map(({ a }) => [a.latitude, a.longitude]));
		return points.map((point, i) => ({ point, timestamp: new Date(places[i].lu * 1000) }));
	});
}
