// The rides that all cards of a page share: loaded by month, and the one that is chosen.

import { ask, bikesOf, refreshCards, stateOf } from "./base.js";

const DAY_MS = 86_400_000;
const SPAN_DAYS = 30;
/** After so long without rides there are none before. */
const LONGEST_PAUSE_DAYS = 3650;
const FRESH_MS = 300_000;
const KM = /** @type {Record<string, number>} */ ({ m: 0.001, mi: 1.609344, ft: 0.0003048, yd: 0.0009144 });

/** @param {Ride} ride */
export const keyOf = ({ device_id, started_at }) => `${device_id} ${Date.parse(started_at)}`;

/** @param {number} days */
function midnight(days) {
  const date = new Date();
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days);
}

export const book = {
  /** @type {Map<string, Ride>} */
  rides: new Map(),
  /** How many days back rides are loaded. */
  days: 0,
  span: SPAN_DAYS,
  pause: 0,
  isComplete: false,
  isLoading: false,
  error: "",
  loadedAt: 0,
  bikes: "",
  ended: "",
  /** @type {string | null} the key of the ride on the map; null is the newest */
  chosen: null,
  /** @type {{start: number, end: number, label: string} | null} a bar that was tapped */
  period: null,

  /** Load what is missing: the last month at first, and what is new later. @param {Hass} hass */
  follow(hass) {
    const bikes = bikesOf(hass);
    const ids = bikes.map(({ id }) => id).join();
    const ended = bikes.map((bike) => stateOf(hass, bike, "ride")?.state).join();
    const isOther = ids !== this.bikes;
    if (!bikes.length || this.isLoading) return;
    if (!isOther && ended === this.ended && Date.now() - this.loadedAt < FRESH_MS) return;
    if (isOther) Object.assign(this, { days: 0, span: SPAN_DAYS, pause: 0, isComplete: false });
    Object.assign(this, { bikes: ids, ended });
    if (this.days) void this._load(hass, Math.min(this.days, SPAN_DAYS), 0);
    else void this.more(hass);
  },

  /** Load earlier rides: a month, or more where there were none. @param {Hass} hass */
  async more(hass) {
    if (this.isLoading || this.isComplete) return;
    const days = this.days + this.span;
    const count = await this._load(hass, days, this.days);
    if (count === null) return;
    this.days = days;
    this.pause = count ? 0 : this.pause + this.span;
    this.span = count ? SPAN_DAYS : this.span * 4;
    this.isComplete = this.pause > LONGEST_PAUSE_DAYS;
    refreshCards();
  },

  /** Load all rides since a time. @param {Hass} hass @param {number} start */
  async since(hass, start) {
    const days = Math.ceil((Date.now() - start) / DAY_MS) + 1;
    if (days > this.days && (await this._load(hass, days, this.days)) !== null) this.days = days;
    refreshCards();
  },

  /** @param {Hass} hass @param {number} from @param {number} until days back */
  async _load(hass, from, until) {
    this.isLoading = true;
    this.loadedAt = Date.now();
    const start = midnight(from);
    const end = until ? midnight(until) : new Date();
    const times = { start_date_time: start.toISOString(), end_date_time: end.toISOString() };
    try {
      const { rides } = await ask(hass, "get_rides", times, this.bikes.split(","));
      for (const [key, { started_at }] of this.rides) {
        const time = Date.parse(started_at);
        if (time >= start.getTime() && time < end.getTime()) this.rides.delete(key);
      }
      for (const ride of rides) this.rides.set(keyOf(ride), ride);
      this.error = "";
      return rides.length;
    } catch (error) {
      this.error = /** @type {Error} */ (error).message || String(error);
      return null;
    } finally {
      this.isLoading = false;
      refreshCards();
    }
  },

  /**
   * Return the rides of bikes, the newest first, with those under way.
   * @param {Hass} hass @param {Bike[]} bikes @returns {Ride[]}
   */
  of(hass, bikes) {
    const ids = new Set(bikes.map(({ id }) => id));
    const rides = [...this.rides.values(), ...bikes.flatMap((bike) => underWay(hass, bike) ?? [])];
    const own = new Map(rides.filter(({ device_id }) => ids.has(device_id)).map((it) => [keyOf(it), it]));
    return [...own.values()].sort((one, other) => Date.parse(other.started_at) - Date.parse(one.started_at));
  },

  /** @param {Ride[]} rides newest first */
  chosenOf(rides) {
    return rides.find((ride) => keyOf(ride) === this.chosen) ?? rides[0];
  },

  /** @param {Ride} ride */
  choose(ride) {
    this.chosen = keyOf(ride);
    refreshCards();
  },
};

/** Return the ride under way, as the event of its start tells. @param {Hass} hass @param {Bike} bike */
function underWay(hass, bike) {
  const event = stateOf(hass, bike, "ride")?.attributes;
  if (event?.event_type !== "started" || !event.started_at) return null;
  const distance = stateOf(hass, bike, "ride_distance");
  const unit = distance?.attributes.unit_of_measurement;
  const started = new Date(event.started_at);
  return /** @type {Ride} */ ({
    device_id: bike.id, name: bike.name, started_at: started.toISOString(), ended_at: null,
    distance: (Number(distance?.state) || 0) * (KM[unit] ?? 1),
    duration: Math.max(0, (Date.now() - started.getTime()) / 1000), maximum_speed: null, start: null, end: null,
  });
}
