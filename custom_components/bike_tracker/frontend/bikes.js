// The bikes and their guards.

import { ask, Card, dot, fill, formats, h, hass, text } from "./base.js";
import { RouteMap, trackSince } from "./map.js";
import { download } from "./rides.js";

const TABLE_FROM = 12;

export class BikesCard extends Card {
	alarms = h("div");
	list = h("div");
	card = this.root.appendChild(h("ha-card", this.alarms, this.list));

	render() {
		const { bikes } = this;
		const triggered = bikes.filter(({ weight }) => !weight);
		// Buttons move: ignore taps for a second.
		if (triggered.length !== this.alarms.childElementCount) this.animate({ pointerEvents: ["none", "none"] }, 1000);
		fill(this.alarms, triggered.map((bike) => this.alarmOf(bike)));
		fill(this.list, !bikes.length ? h("p.note.pad", text("no_bikes")) : bikes.length >= TABLE_FROM ? this.tableOf(bikes)
			: h("ul.strip", bikes.map((bike) => h("li", { "data-key": bike.id }, this.nameOf(bike), this.guardOf(bike)))));
		triggered.forEach((bike) => this.showTrack(bike));
	}

	/** @param {Bike} bike */
	batteryOf(bike) {
		const battery = bike.state("battery");
		return battery && h(`span.number.${bike.isLow ? "low" : ""}`, hass.formatEntityState(battery));
	}

	/** @param {Bike} bike */
	nameOf(bike) {
		const detail = { entityId: bike.has.tracker };
		return h("button.open", { onclick: () => this.dispatchEvent(new CustomEvent("hass-more-info", { bubbles: true, composed: true, detail })) },
			h("span.row", dot(bike), h("span.name", bike.name)),
			h("span.row.note", h("span.place", bike.place), " ", this.batteryOf(bike)));
	}

	/** @param {Bike} bike */
	guardOf(bike) {
		const guard = hass.states[bike.has.guard];
		if (!guard) return null;
		const { state } = guard;
		const label = state === "disarmed" ? text("guard") : state === "triggered" ? text("its_me") : hass.formatEntityState(guard);
		const kind = { triggered: "danger", armed_away: "primary" }[state] ?? "";
		return h(`button.button.${kind}`, {
			"aria-label": `${label}: ${bike.name}`, "aria-pressed": kind !== "danger" && String(!!kind),
			disabled: !bike.state("guard"), onclick: () => this.set(bike, !kind),
		}, label, kind === "primary" && " ✓");
	}

	/** @param {Bike[]} bikes */
	tableOf(bikes) {
		bikes.sort((one, other) => one.weight - other.weight);
		const head = ["bike", "place", "battery", "guard"].map((key) => h("th.note", { scope: "col" }, text(key)));
		return h("table", h("thead", h("tr", head)), h("tbody", bikes.map((bike) => h("tr", { "data-key": bike.id },
			h("th", { scope: "row" }, this.nameOf(bike)), h("td", bike.place),
			h("td", this.batteryOf(bike)), h("td", this.guardOf(bike))))));
	}

	/** @param {Bike} bike */
	alarmOf(bike) {
		const guard = hass.states[bike.has.guard];
		const { cause, since } = guard.attributes;
		const what = cause === "alarm" ? text("alarm") : hass.formatEntityState(guard);
		const actions = { its_me: () => this.set(bike), guard_again: () => this.set(bike, true), theft_report: () => this.report(bike) };
		return h("section.alarm", { "data-key": bike.id },
			h("div.row", { role: "alert" }, dot(bike), h("h2", `${bike.name}: ${what}`)),
			h("p", text("since", { time: formats.moment(Date.parse(since)) })), h("p", this.lastSeen(bike)),
			h("bike-tracker-map"),
			h("div.row.actions", Object.entries(actions).map(([key, onclick], i) => h(`button.button.${i ? "" : "primary"}`, { onclick }, text(key)))));
	}

	/** @param {Bike} bike */
	lastSeen(bike) {
		const { where } = bike;
		if (!where?.position_time) return bike.place;
		const time = formats.moment(Date.parse(where.position_time));
		const at = where.place || where.address || `${where.latitude.toFixed(4)}, ${where.longitude.toFixed(4)}`;
		return [`${text("last_seen")}: `, h("bdi", time), " · ", h("bdi", at), !bike.state("tracker") && ` · ${text("no_contact")}`];
	}

	/** @param {Bike} bike */
	async showTrack(bike) {
		const map = /** @type {RouteMap} */ (this.alarms.querySelector(`[data-key="${bike.id}"] bike-tracker-map`));
		const { since } = hass.states[bike.has.guard].attributes;
		const points = await trackSince(bike, since);
		void map.show([bike], since, { bike, points });
		const { bikes: [where] = [] } = await ask("where", {}, bike.id).catch(() => ({}));
		if (where?.text !== bike.where?.text) this.update();
		bike.where = where;
	}

	/** @param {Bike} bike */
	set(bike, isGuarded = false) {
		// Home Assistant shows errors.
		hass.callService("alarm_control_panel", `alarm_${isGuarded ? "arm_away" : "disarm"}`, {}, { entity_id: bike.has.guard }).catch(() => {});
	}

	/** @param {Bike} bike */
	report(bike) {
		ask("theft_report", {}, bike.id, true).then(({ html }) =>
			download(URL.createObjectURL(new Blob([html], { type: "text/html" })), `${bike.name}.html`)).catch(() => {});
	}
}
