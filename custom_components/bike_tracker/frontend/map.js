import { ask, h, hass } from "./base.js";

const MAX_POINTS = 500;
const HELD_MS = 60_000;
/** Before 2026.10, maps ignore a fit until loaded, without an event. */
const FITS_AFTER_MS = [0, 300, 1000, 2500, 6000];

async function loadMap() {
	(await window.loadCardHelpers()).createCardElement({ type: "map", entities: ["zone.home"] });
	await customElements.whenDefined("ha-map");
}

export class RouteMap extends HTMLElement {
	/** @type {HaMap | undefined} */
	map;
	timers = [0];
	shown = "";
	heldUntil = 0;

	constructor() {
		super();
		const hold = () => {
			this.timers.forEach(clearTimeout);
			this.heldUntil = Date.now() + HELD_MS;
		};
		for (const type of ["pointerdown", "wheel", "keydown"]) this.addEventListener(type, hold, true);
	}

	/** A removed map forgets the fit. */
	connectedCallback() {
		this.shown = "";
	}

	/** Fit a ride, and new points unless the map was just touched. @param {Bike[]} bikes @param {Route} [route] */
	async show(bikes, ride = "", route) {
		if (!customElements.get("ha-map")) await loadMap();
		const map = (this.map ??= this.appendChild(/** @type {HaMap} */ (h("ha-map", { zoom: "16" }))));
		const points = route?.points.map(({ point }) => point) ?? [];
		const entities = bikes.map(({ has, color }) => ({ entity_id: has.tracker, color }));
		if (JSON.stringify(entities) !== JSON.stringify(map.entities)) map.entities = entities;
		map.autoFit = !points.length;
		map.paths = route ? pathsOf(route) : [];
		const key = `${ride} ${points.length}`;
		if (key === this.shown || (Date.now() < this.heldUntil && this.shown.startsWith(ride))) return;
		const fit = () => (points.length ? map.fitBounds(points) : map.fitMap({ unpause_autofit: true }));
		this.timers.forEach(clearTimeout);
		this.timers = FITS_AFTER_MS.map((ms) => setTimeout(fit, ms));
		this.shown = key;
	}
}

/** Return the lines. The map draws a dot per point. @param {Route} route */
function pathsOf({ bike: { name, color }, points }) {
	const step = Math.ceil(points.length / MAX_POINTS);
	const some = points.filter((_, i) => !(i % step) || !points[i + 1]);
	const lines = new Set(some.map(({ line }) => line));
	return [...lines].map((line) => ({ name, color, fullDatetime: true, points: some.filter((it) => it.line === line) }));
}

/** @type {Map<string, {version?: string, points: Promise<TimedPoint[]>}>} */
const routes = new Map();

/** Load a version once, or until it works. @param {string | undefined} version @param {() => Promise<TimedPoint[]>} load */
function once(key = "", version, load) {
	const known = routes.get(key);
	if (known && known.version === version) return known.points;
	const points = load().then(unwrap);
	routes.set(key, { version, points });
	points.catch(() => routes.delete(key));
	return points;
}

/** Let longitudes exceed 180 degrees. @param {TimedPoint[]} points */
function unwrap(points) {
	points.forEach(({ point }, i) => i && (point[1] -= 360 * Math.round((point[1] - points[i - 1].point[1]) / 360)));
	return points;
}

/** @param {Ride} ride */
export const routeOf = (ride) => once(ride.key, ride.ended_at, async () => {
	const times = { start_date_time: ride.started_at, end_date_time: ride.ended_at, routes: true };
	/** @type {{rides: Ride[]}} */
	const { rides } = await ask("get_rides", times, ride.device_id);
	const points = decode(rides.find(({ started_at }) => started_at === ride.started_at)?.route ?? "");
	// The time of each point is that of a steady rider.
	const ways = points.map(([y, x], i) => Math.hypot(y - points[i && i - 1][0], (x - points[i && i - 1][1]) * Math.cos(y / 57.3)));
	const pace = (Date.parse(ride.ended_at ?? "") - ride.at) / (ways.reduce((sum, it) => sum + it, 0) || 1);
	let time = ride.at;
	return points.map((point, i) => ({ point, timestamp: new Date((time += ways[i] * pace)) }));
});

/** Decode a polyline, precision 5. */
function decode(route = "") {
	/** @type {[number, number][]} */
	const points = [];
	const last = [0, 0];
	let number = 0, shift = 0, count = 0;
	for (const character of route) {
		const bits = character.charCodeAt(0) - 63;
		number |= (bits & 31) << shift;
		shift += 5;
		if (bits >= 32) continue;
		last[count % 2] += (number >> 1) ^ -(number & 1);
		if (count++ % 2) points.push([last[0] / 1e5, last[1] / 1e5]);
		number = shift = 0;
	}
	return points;
}

/** Return the recorded track. After an outage, the first new place begins a line. @param {Bike} bike */
export function trackSince({ has: { tracker } }, since = "") {
	const { attributes, last_updated } = hass.states[tracker];
	return once(`${tracker} ${since}`, last_updated, async () => {
		const history = await hass.callWS(
			{ type: "history/history_during_period", start_time: since, entity_ids: [tracker], significant_changes_only: false }).catch(() => ({}));
		/** @type {{a: HassState["attributes"], lu: number}[]} */
		const states = [...(history[tracker] ?? []), { a: attributes, lu: Date.parse(last_updated) / 1000 }];
		let gaps = 0, line = 0, last = "";
		return states.flatMap(({ a, lu }) => {
			if (typeof a?.latitude !== "number") return (gaps++, []);
			if (last !== (last = `${[a.latitude, a.longitude]}`)) line = gaps;
			return { point: [a.latitude, a.longitude], timestamp: new Date(lu * 1000), line };
		});
	});
}
