// The card with the bikes: where each is, its battery, its guard, and what to do at a theft.

import { ask, Card, dot, GONE, h, hasLowBattery, messageOf, placeOf, stateOf, text } from "./base.js";
import { RouteMap, trackSince } from "./map.js";
import { download } from "./rides.js";

const TABLE_FROM = 12;

/** @typedef {{map: RouteMap, element: Element, title: Element, place: Element}} Alarm */

export class BikesCard extends Card {
	alarms = h("div");
	list = h("div");
	card = this.root.appendChild(h("ha-card", {}, this.alarms, this.list));
	/** @type {Map<string, Alarm>} */
	shown = new Map();

	render() {
		const { bikes } = this;
		const triggered = bikes.filter((bike) => this.weightOf(bike) === 0);
		for (const id of this.shown.keys()) if (!triggered.some((bike) => bike.id === id)) this.shown.delete(id);
		const alarms = triggered.map((bike) => this.alarmOf(bike));
		if (alarms.some((alarm, i) => alarm !== this.alarms.children[i]) || alarms.length < this.alarms.childElementCount) this.fill(this.alarms, ...alarms);
		this.fill(this.list, !bikes.length ? h("p", { class: "note pad" }, text("no_bikes")) : bikes.length < TABLE_FROM
			? h("ul", { class: "strip" }, bikes.map((bike) => h("li", {}, this.nameOf(bike), this.guardOf(bike)))) : this.tableOf(bikes));
	}

	/** Return which bikes come first: triggered, offline, low battery. @param {Bike} bike */
	weightOf(bike) {
		const { hass } = this;
		if (stateOf(hass, bike, "guard")?.state === "triggered") return 0;
		if (["off", ...GONE].includes(stateOf(hass, bike, "online")?.state ?? "")) return 1;
		return hasLowBattery(hass, bike) ? 2 : 3;
	}

	/** @param {Bike} bike */
	placeOf(bike) {
		const { hass } = this;
		const online = stateOf(hass, bike, "online");
		if (hass.states[bike.tracker].state === "unavailable") return text("no_contact");
		const offline = online?.state === "off" && text("offline_since", { time: this.formats.moment(Date.parse(online.last_changed)) });
		return [placeOf(hass, bike), offline].filter(Boolean).join(" · ");
	}

	/** @param {Bike} bike */
	batteryOf(bike) {
		const battery = stateOf(this.hass, bike, "battery");
		if (!battery || GONE.includes(battery.state)) return null;
		return h("span", { class: hasLowBattery(this.hass, bike) ? "number low" : "number" }, this.hass.formatEntityState(battery));
	}

	/** @param {Bike} bike */
	nameOf(bike) {
		const onclick = () => this.fire("hass-more-info", { entityId: bike.tracker });
		return h("button", { class: "open", "data-key": `open ${bike.id}`, onclick },
			h("span", { class: "row" }, dot(bike), h("span", { class: "name" }, bike.name)),
			h("span", { class: "row note" }, h("span", { class: "place" }, this.placeOf(bike)), this.batteryOf(bike)));
	}

	/** Return the button that guards a bike, or ends that. @param {Bike} bike */
	guardOf(bike) {
		const guard = stateOf(this.hass, bike, "guard");
		if (!guard) return null;
		const { state } = guard;
		const label = state === "disarmed" ? text("guard") : state === "triggered" ? text("its_me") : this.hass.formatEntityState(guard);
		const kind = state === "triggered" ? "danger" : state === "armed_away" ? "primary" : "";
		return h("button", {
			class: `button ${kind}`, "data-key": `guard ${bike.id}`, "aria-label": `${label}: ${bike.name}`,
			"aria-pressed": kind !== "danger" && String(!!kind), disabled: GONE.includes(state), onclick: () => this.set(bike, !kind),
		}, label, kind === "primary" && " ✓");
	}

	/** @param {Bike[]} bikes */
	tableOf(bikes) {
		const sorted = bikes.map((bike) => ({ bike, weight: this.weightOf(bike) })).sort((one, other) => one.weight - other.weight);
		const head = ["bike", "place", "battery", "guard"].map((key) =>
			h("th", { scope: "col", class: ["place", "battery"].includes(key) ? "note optional" : "note" }, text(key)));
		return h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, sorted.map(({ bike }) => h("tr", {},
			h("th", { scope: "row" }, this.nameOf(bike)), h("td", { class: "optional" }, this.placeOf(bike)),
			h("td", { class: "optional" }, this.batteryOf(bike)), h("td", {}, this.guardOf(bike))))));
	}

	/** Return what one needs at 3 a.m. @param {Bike} bike */
	alarmOf(bike) {
		const guard = /** @type {HassState} */ (stateOf(this.hass, bike, "guard"));
		const { cause, since = guard.last_changed, address } = guard.attributes;
		const alarm = this.shown.get(bike.id) ?? this.newAlarm(bike);
		const title = `${bike.name}: ${cause === "alarm" ? text("alarm") : this.hass.formatEntityState(guard)}`;
		// Written only if it is another text: a screen reader reads it out.
		if (alarm.title.textContent !== title) alarm.title.textContent = title;
		alarm.place.textContent = `${text("since", { time: this.formats.moment(Date.parse(since)) })} · ${address || this.placeOf(bike)}`;
		void trackSince(this.hass, bike, since).then((points) => alarm.map.show([bike], `${since} ${points.length}`, { bike, points, isOpen: true }));
		return alarm.element;
	}

	/** @param {Bike} bike */
	newAlarm(bike) {
		const [map, title, place] = [new RouteMap(), h("h2", { role: "alert" }), h("p")];
		/** @param {string} key @param {() => void} onclick */
		const button = (key, onclick) => h("button", { class: key === "its_me" ? "button primary" : "button", onclick }, text(key));
		const element = h("section", { class: "alarm" }, h("div", { class: "row" }, dot(bike), title), place, map.element,
			h("div", { class: "row actions" }, button("its_me", () => this.set(bike, false)),
				button("guard_again", () => this.set(bike, true)), button("theft_report", () => this.report(bike))));
		const alarm = { map, element, title, place };
		this.shown.set(bike.id, alarm);
		return alarm;
	}

	/** @param {Bike} bike @param {boolean} isGuarded */
	set(bike, isGuarded) {
		const action = isGuarded ? "alarm_arm_away" : "alarm_disarm";
		// Home Assistant shows the error.
		this.hass.callService("alarm_control_panel", action, {}, { entity_id: bike.has.guard }).catch(() => {});
	}

	/** Download the report, a page to print. @param {Bike} bike */
	async report(bike) {
		try {
			const { html } = await ask(this.hass, "theft_report", { device_id: bike.id });
			const url = URL.createObjectURL(new Blob([html], { type: "text/html" }));
			download(url, `${bike.name}.html`);
			setTimeout(() => URL.revokeObjectURL(url), 60_000);
		} catch (error) {
			this.fire("hass-notification", { message: messageOf(error) });
		}
	}

}
