// All rides, loaded by month.

import { ask, bikesOf, refreshCards, stampOf } from "./base.js";

const SPAN_DAYS = 30;
const LONGEST_PAUSE_DAYS = 1900;

const midnight = (daysAgo = 0) => new Date().setHours(-24 * daysAgo, 0, 0, 0);

class Book {
	/** @type {Ride[]} newest first */
	rides = [];
	/** Days loaded, and to load next. */
	days = 0;
	span = 7;
	isComplete = false;
	isLoading = false;
	error = "";
	/** @type {string[]} */
	bikes = [];
	stamp = "";
	/** On the map; the newest if empty. */
	chosen = "";

	/** Load a week, and new rides later. */
	follow() {
		const bikes = bikesOf();
		const stamp = stampOf(bikes);
		if (!bikes.length || this.isLoading || stamp === this.stamp) return;
		const ids = bikes.map(({ id }) => id);
		if (ids.join() !== this.bikes.join()) Object.assign(this, { rides: [], days: 0, span: 7, isComplete: false });
		Object.assign(this, { bikes: ids, stamp });
		void (this.days ? this.load(Math.min(this.days, SPAN_DAYS), 0) : this.more());
	}

	/** Load a month more, after a pause a longer time. */
	async more(span = this.span) {
		if (this.isLoading || this.isComplete || span <= 0) return;
		const count = await this.load(this.days + span, this.days);
		if (count === null) return;
		this.days += span;
		this.isComplete = !count && span > LONGEST_PAUSE_DAYS;
		this.span = count ? SPAN_DAYS : span * 4;
	}

	/** Both in days back. */
	async load(from = 0, until = 0) {
		const [start, end] = [midnight(from), until ? midnight(until) : Date.now()];
		this.isLoading = true;
		try {
			const [start_date_time, end_date_time] = [start, end].map((at) => new Date(at).toISOString());
			const { rides } = await ask("get_rides", { start_date_time, end_date_time }, this.bikes);
			const kept = this.rides.filter(({ at }) => at < start || at >= end);
			const all = new Map([...kept, ...rides.map(identify)].map((ride) => [ride.key, ride]));
			this.rides = [...all.values()].sort((one, other) => other.at - one.at);
			this.error = "";
			return rides.length;
		} catch (/** @type {any} */ error) {
			this.error = error;
			return null;
		} finally {
			this.isLoading = false;
			// After the caller.
			setTimeout(refreshCards);
		}
	}

	/** Return the rides of bikes, those under way first. @param {Bike[]} bikes */
	of(bikes) {
		const ids = new Set(bikes.map(({ id }) => id));
		const open = bikes.flatMap(underWay).sort((one, other) => other.at - one.at);
		return [...open, ...this.rides.filter(({ device_id, key }) => ids.has(device_id) && !open.some((it) => it.key === key))];
	}

	/** @param {Ride[]} rides */
	chosenOf(rides) {
		return rides.find(({ key }) => key === this.chosen) ?? rides[0];
	}

	/** @param {Ride} ride */
	choose(ride) {
		this.chosen = ride.key;
		refreshCards();
	}
}

export const book = new Book();

/** @param {Ride} ride */
function identify(ride) {
	const at = Date.parse(ride.started_at);
	return Object.assign(ride, { at, key: `${ride.device_id} ${at}` });
}

/** @param {Bike} bike */
function underWay(bike) {
	const { ride } = bike;
	if (!ride) return [];
	bike.km = bike.value("ride_distance", bike.km);
	const duration = bike.value("ride_duration");
	return identify(/** @type {Ride} */ ({ device_id: bike.id, started_at: ride.started_at, distance: bike.km, duration }));
}
