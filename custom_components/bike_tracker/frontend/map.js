// Home Assistant's own map with routes on it, and the requests for them.

import { ask, h } from "./base.js";

const MAX_POINTS = 500;
/** Older releases ignore a fit until the map is loaded, and do not tell when that is. */
const FITS_AFTER_MS = [0, 300, 1000, 2500, 6000];

let ready = /** @type {Promise<unknown> | null} */ (null);

/** Have Home Assistant load its map. */
function loadMap() {
  ready ??= window.loadCardHelpers()
    .then((helpers) => helpers.createCardElement({ type: "map", entities: [] }))
    .then(() => customElements.whenDefined("ha-map"));
  return ready;
}

/** A map that shows bikes and one route. */
export class RouteMap {
  constructor() {
    this.element = h("div", { class: "map" });
    /** @type {HaMap | null} */
    this.map = null;
    /** @type {number[]} */
    this.timers = [];
    this.shown = "";
    this.stop = () => this.timers.forEach(clearTimeout);
    for (const type of ["pointerdown", "wheel", "keydown"]) {
      this.element.addEventListener(type, this.stop, { capture: true, passive: true });
    }
  }

  /**
   * @param {Bike[]} bikes
   * @param {{bike: Bike, points: TimedPoint[], isOpen?: boolean} | null} route
   * @param {string} key another key has the map fit what it shows
   */
  async show(bikes, route, key) {
    await loadMap();
    if (!this.map) {
      this.map = /** @type {HaMap} */ (h("ha-map", { "interactive-zones": true }));
      this.map.zoom = 16;
      this.map.clusterMarkers = bikes.length > 5;
      this.element.append(this.map);
    }
    const { map } = this;
    const entities = bikes.map(({ tracker, color }) => ({ entity_id: tracker, color }));
    if (JSON.stringify(entities) !== JSON.stringify(map.entities)) map.entities = entities;
    map.paths = route?.points.length ? pathsOf(route) : [];
    map.autoFit = !route?.points.length;
    if (key === this.shown) return;
    const isFirst = !this.shown;
    this.shown = key;
    this.stop();
    const fit = () => {
      if (route?.points.length) map.fitBounds(route.points.map(({ point }) => point), { zoom: 16, pad: 0.25 });
      else map.fitMap({ unpause_autofit: true });
    };
    this.timers = FITS_AFTER_MS.slice(0, isFirst ? undefined : 2).map((ms) => window.setTimeout(fit, ms));
  }
}

/** Return the line, with its start and its end as points of their own. */
function pathsOf(/** @type {{bike: Bike, points: TimedPoint[], isOpen?: boolean}} */ { bike, points, isOpen }) {
  const step = Math.ceil(points.length / MAX_POINTS);
  const some = points.filter((_, i) => i % step === 0 || i === points.length - 1);
  const path = { points: some, name: bike.name, color: bike.color, fullDatetime: true };
  const ends = [some[0], ...(isOpen ? [] : [some[some.length - 1]])];
  return [path, ...ends.map((end) => ({ ...path, points: [end] }))];
}

/**
 * Return the points of an encoded polyline (Google's algorithm, precision 5); the date line is crossed.
 * @param {string} route
 * @returns {[number, number][]}
 */
export function decode(route) {
  /** @type {[number, number][]} */
  const points = [];
  let at = 0;
  const next = () => {
    let value = 0, shift = 0, byte;
    do {
      byte = route.charCodeAt(at++) - 63;
      value |= (byte & 31) << shift;
      shift += 5;
    } while (byte >= 32);
    return value & 1 ? ~(value >> 1) : value >> 1;
  };
  let latitude = 0, longitude = 0;
  while (at < route.length) {
    latitude += next();
    longitude += next();
    points.push([latitude / 1e5, longitude / 1e5]);
  }
  return unwrapped(points);
}

/** Let longitudes go on beyond 180 degrees. @param {[number, number][]} points */
function unwrapped(points) {
  for (let i = 1; i < points.length; i++) {
    points[i][1] -= 360 * Math.round((points[i][1] - points[i - 1][1]) / 360);
  }
  return points;
}

/** @type {Map<string, Promise<TimedPoint[]>>} */
const routes = new Map();

/**
 * Return the route of a ride, or no points if it has none.
 * @param {Hass} hass @param {Ride} ride
 * @returns {Promise<TimedPoint[]>}
 */
export function routeOf(hass, ride) {
  const key = `${ride.device_id} ${ride.started_at} ${ride.ended_at}`;
  let route = routes.get(key);
  if (!route) {
    route = loadRoute(hass, ride);
    routes.set(key, route);
    route.catch(() => routes.delete(key));
  }
  return route;
}

/** @param {Hass} hass @param {Ride} ride @returns {Promise<TimedPoint[]>} */
async function loadRoute(hass, ride) {
  const times = { start_date_time: ride.started_at, end_date_time: ride.ended_at };
  const { rides } = await ask(hass, "get_rides", { ...times, routes: true }, [ride.device_id]);
  const found = rides.find((/** @type {Ride} */ it) => it.started_at === ride.started_at);
  return withTimes(decode(found?.route ?? ""), new Date(ride.started_at), new Date(ride.ended_at ?? ""));
}

/** Give each point the time at which a steady rider passes it. @returns {TimedPoint[]} */
function withTimes(/** @type {[number, number][]} */ points, /** @type {Date} */ start, /** @type {Date} */ end) {
  let length = 0;
  const lengths = points.map(([latitude, longitude], i) => {
    const [last, lastLongitude] = points[Math.max(i - 1, 0)];
    const width = Math.cos((latitude * Math.PI) / 180);
    return (length += Math.hypot(latitude - last, (longitude - lastLongitude) * width));
  });
  const duration = end.getTime() - start.getTime();
  return points.map((point, i) => ({
    point, timestamp: new Date(start.getTime() + (length ? (duration * lengths[i]) / length : 0)),
  }));
}

/**
 * Return where a bike has been since a time, as Home Assistant recorded it.
 * @param {Hass} hass @param {Bike} bike @param {string} since
 * @returns {Promise<TimedPoint[]>}
 */
export async function trackSince(hass, bike, since) {
  const history = await hass.callWS({
    type: "history/history_during_period", start_time: since, entity_ids: [bike.tracker],
    minimal_response: false, no_attributes: false, significant_changes_only: false,
  }).catch(() => ({}));
  const now = hass.states[bike.tracker];
  /** @type {{a?: Record<string, any>, lu: number}[]} */
  const states = history[bike.tracker] ?? [];
  states.push({ a: now?.attributes, lu: Date.parse(now?.last_updated) / 1000 });
  const places = states.filter(({ a }) => typeof a?.latitude === "number");
  const points = unwrapped(places.map(({ a }) => [a?.latitude, a?.longitude]));
  return points.map((point, i) => ({ point, timestamp: new Date(places[i].lu * 1000) }));
}
