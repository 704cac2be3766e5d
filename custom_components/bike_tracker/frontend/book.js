// The rides that all cards of a page share: loaded by month, and the one that is chosen.

import { ask, bikesOf, messageOf, refreshCards, stateOf } from "./base.js";

const DAY_MS = 86_400_000;
const SPAN_DAYS = 30;
/** No rides are looked for behind so long a pause. */
const LONGEST_PAUSE_DAYS = 3650;
const FRESH_MS = 300_000;
/** @type {Record<string, number>} */
const KM = { m: 0.001, mi: 1.609344, ft: 0.0003048, yd: 0.0009144 };

/** @param {number} days */
function midnight(days) {
	const now = new Date();
	return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
}

class Book {
	/** @type {Ride[]} newest first */
	rides = [];
	/** How many days back rides are loaded. */
	days = 0;
	span = SPAN_DAYS;
	pause = 0;
	isComplete = false;
	isLoading = false;
	error = "";
	loadedAt = 0;
	/** @type {string[]} */
	bikes = [];
	ended = "";
	/** The ride on the map; the newest if empty. */
	chosen = "";
	/** @type {{start: number, end: number, label: string} | null} the bar that was tapped */
	period = null;

	/** Load the last month at first, and what is new later. @param {Hass} hass */
	follow(hass) {
		const bikes = bikesOf(hass);
		const ids = bikes.map(({ id }) => id).sort();
		const ended = bikes.map((bike) => stateOf(hass, bike, "ride")?.state).join();
		const isOther = ids.join() !== this.bikes.join();
		if (!ids.length || this.isLoading) return;
		if (!isOther && ended === this.ended && Date.now() - this.loadedAt < FRESH_MS) return;
		if (isOther) Object.assign(this, { rides: [], days: 0, span: SPAN_DAYS, pause: 0, isComplete: false });
		Object.assign(this, { bikes: ids, ended });
		void (this.days ? this.load(hass, Math.min(this.days, SPAN_DAYS), 0) : this.more(hass));
	}

	/** Load a month more, or a longer time where there were no rides. @param {Hass} hass */
	async more(hass) {
		if (this.isLoading || this.isComplete) return;
		const count = await this.load(hass, this.days + this.span, this.days);
		if (count === null) return;
		this.days += this.span;
		this.pause = count ? 0 : this.pause + this.span;
		this.span = count ? SPAN_DAYS : this.span * 4;
		this.isComplete = this.pause > LONGEST_PAUSE_DAYS;
	}

	/** Load all rides since a time. @param {Hass} hass @param {number} start */
	async since(hass, start) {
		const days = Math.ceil((Date.now() - start) / DAY_MS) + 1;
		if (days > this.days && !this.isLoading && (await this.load(hass, days, this.days)) !== null) this.days = days;
	}

	/** @param {Hass} hass @param {number} from days back @param {number} until days back */
	async load(hass, from, until) {
		const [start, end] = [midnight(from), until ? midnight(until) : Date.now()];
		Object.assign(this, { isLoading: true, loadedAt: Date.now() });
		try {
			const [start_date_time, end_date_time] = [start, end].map((at) => new Date(at).toISOString());
			/** @type {{rides: Ride[]}} */
			const { rides } = await ask(hass, "get_rides", { start_date_time, end_date_time }, this.bikes);
			for (const ride of rides) identify(ride);
			const kept = this.rides.filter(({ at }) => at < start || at >= end);
			this.rides = [...new Map([...kept, ...rides].map((ride) => [ride.key, ride])).values()].sort((one, other) => other.at - one.at);
			this.error = "";
			return rides.length;
		} catch (error) {
			this.error = messageOf(error);
			return null;
		} finally {
			this.isLoading = false;
			// Once the caller has noted how far it came.
			setTimeout(refreshCards);
		}
	}

	/** Return the rides of bikes, those under way first. @param {Hass} hass @param {Bike[]} bikes */
	of(hass, bikes) {
		const ids = new Set(bikes.map(({ id }) => id));
		const own = this.rides.filter(({ device_id }) => ids.has(device_id));
		const open = bikes.flatMap((bike) => underWay(hass, bike) ?? []).sort((one, other) => other.at - one.at);
		return [...open.filter(({ key }) => !own.some((ride) => ride.key === key)), ...own];
	}

	/** @param {Ride[]} rides */
	chosenOf(rides) {
		return rides.find(({ key }) => key === this.chosen) ?? rides[0];
	}

	/** Choose a ride or a period for all cards. @param {{chosen?: string, period?: Book["period"]}} choice */
	choose(choice) {
		Object.assign(this, choice);
		refreshCards();
	}
}

export const book = new Book();

/** @param {Ride} ride */
function identify(ride) {
	ride.at = Date.parse(ride.started_at);
	ride.key = `${ride.device_id} ${ride.at}`;
	return ride;
}

/** Return the ride that began and did not end yet. @param {Hass} hass @param {Bike} bike */
function underWay(hass, bike) {
	const event = stateOf(hass, bike, "ride")?.attributes;
	if (event?.event_type !== "started" || !event.started_at) return null;
	const km = stateOf(hass, bike, "ride_distance");
	const unit = km?.attributes.unit_of_measurement;
	return identify(/** @type {Ride} */ ({
		device_id: bike.id, started_at: event.started_at, ended_at: null, distance: (Number(km?.state) || 0) * (KM[unit] ?? 1),
		duration: (Date.now() - Date.parse(event.started_at)) / 1000, maximum_speed: null, start: null, end: null,
	}));
}
