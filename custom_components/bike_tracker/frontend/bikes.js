// The card with the bikes: where each is, its battery, its guard, and what to do at a theft.

import { ask, Card, dot, h, hasLowBattery, placeOf, stateOf, text } from "./base.js";
import { RouteMap, trackSince } from "./map.js";
import { download } from "./rides.js";

const TABLE_FROM = 12;
const GONE = ["unavailable", "unknown"];

export class BikesCard extends Card {
  static style = `
ha-card { overflow: visible; }
.strip { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 4px; padding: 4px; }
.strip li { padding: 8px; display: grid; grid-template-columns: minmax(0, 1fr); gap: 6px; }
.open { width: 100%; display: block; min-height: 44px; padding: 2px 6px; }
.open .row { font-weight: 500; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: start; padding: 2px 8px; font-weight: 400; border-bottom: 1px solid var(--divider-color); }
thead th { color: var(--secondary-text-color); padding: 8px; }
td { overflow-wrap: anywhere; }
td .button { width: 100%; }
.low { color: var(--error-color); }
.alarm { border: 2px solid var(--error-color); border-radius: 12px; margin: 8px; padding: 12px; display: grid; gap: 8px; }
.alarm .map { height: 240px; position: relative; border-radius: 8px; overflow: hidden; }
ha-map { position: absolute; inset: 0; height: 100%; width: 100%; z-index: 0; }
.actions { flex-wrap: wrap; }
.actions button { flex: 1; white-space: nowrap; }
@container (max-width: 500px) {
  .strip { grid-template-columns: 1fr; gap: 0; }
  .strip li { grid-template-columns: minmax(0, 1fr) auto; align-items: center; padding: 2px 8px; }
  th.optional, td.optional { display: none; }
}`;

  constructor() {
    super();
    this.alarms = h("div", { role: "alert" });
    this.list = h("div");
    this.root.append(h("ha-card", {}, this.alarms, this.list));
    /** @type {Map<string, {map: RouteMap, element: HTMLElement, since: string}>} */
    this.shown = new Map();
  }

  /** @param {Hass} hass */
  render(hass) {
    const { bikes } = this;
    const isTable = bikes.length >= TABLE_FROM;
    const triggered = bikes.filter((bike) => isTriggered(hass, bike));
    for (const id of this.shown.keys()) {
      if (!triggered.some((bike) => bike.id === id)) this.shown.delete(id);
    }
    this.fill(this.alarms, ...triggered.map((bike) => this.alarmOf(hass, bike)));
    const list = isTable ? this.tableOf(hass, bikes) : h("ul", { class: "strip" }, ...bikes.map((bike) =>
      h("li", {}, this.nameOf(hass, bike), this.guardOf(hass, bike))));
    this.fill(this.list, bikes.length ? list : h("p", { class: "note pad" }, text("no_bikes")));
  }

  /** @param {Hass} hass @param {Bike} bike */
  nameOf(hass, bike) {
    const battery = batteryOf(hass, bike);
    return h("button", { class: "open", "data-key": `open ${bike.id}`, onclick: () => this.open(bike) },
      h("span", { class: "row" }, dot(bike), h("span", { class: "name" }, bike.name)),
      h("span", { class: "row note" }, h("span", { class: "name" }, whereOf(hass, bike, this.formats)),
        battery && h("span", { class: hasLowBattery(hass, bike) ? "number low" : "number" }, `· ${battery}`)));
  }

  /** Return the button that guards a bike, and ends that. @param {Hass} hass @param {Bike} bike */
  guardOf(hass, bike) {
    const guard = stateOf(hass, bike, "guard");
    if (!guard) return null;
    const isOff = guard.state === "disarmed";
    const isMoved = guard.state === "triggered";
    const label = isOff ? text("guard") : isMoved ? text("its_me") : hass.formatEntityState(guard);
    return h("button", {
      class: `button ${isOff ? "" : isMoved ? "danger" : "primary"}`, "data-key": `guard ${bike.id}`,
      "aria-pressed": isMoved ? null : String(!isOff), "aria-label": `${label}: ${bike.name}`,
      disabled: GONE.includes(guard.state), onclick: () => this.set(bike, isOff),
    }, label, !isOff && !isMoved && " ✓");
  }

  /** @param {Hass} hass @param {Bike[]} bikes */
  tableOf(hass, bikes) {
    const weight = (/** @type {Bike} */ bike) =>
      isTriggered(hass, bike) ? 0 : isOffline(hass, bike) ? 1 : hasLowBattery(hass, bike) ? 2 : 3;
    const sorted = bikes.map((bike) => ({ bike, weight: weight(bike) })).sort((one, other) => one.weight - other.weight);
    const head = ["bike", "place", "battery", "guard"].map((key, i) =>
      h("th", { scope: "col", class: i === 1 || i === 2 ? "optional" : null }, text(key)));
    return h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...sorted.map(({ bike }) => {
      const low = hasLowBattery(hass, bike) ? "optional low" : "optional";
      return h("tr", {}, h("th", { scope: "row" }, this.nameOf(hass, bike)),
        h("td", { class: "optional" }, whereOf(hass, bike, this.formats)),
        h("td", { class: low }, batteryOf(hass, bike)), h("td", {}, this.guardOf(hass, bike)));
    })));
  }

  /** Return what one needs at 3 a.m. @param {Hass} hass @param {Bike} bike */
  alarmOf(hass, bike) {
    const guard = /** @type {HassState} */ (stateOf(hass, bike, "guard"));
    const { cause, since, address } = guard.attributes;
    const state = cause === "alarm" ? text("alarm") : hass.formatEntityState(guard);
    let shown = this.shown.get(bike.id);
    if (!shown) {
      shown = { map: new RouteMap(), element: h("section", { class: "alarm" }), since };
      this.shown.set(bike.id, shown);
    }
    const { map, element } = shown;
    const start = since ?? guard.last_changed;
    void trackSince(hass, bike, start).then((points) => map.show([bike], { bike, points, isOpen: true }, `${start} ${points.length}`));
    this.fill(element,
      h("div", { class: "row" }, dot(bike), h("h2", {}, `${bike.name}: ${state}`)),
      h("p", {}, text("since", { time: this.formats.moment(new Date(start)) }), " · ", address || whereOf(hass, bike, this.formats)),
      map.element,
      h("div", { class: "row actions" },
        h("button", { class: "button primary", "data-key": `me ${bike.id}`, onclick: () => this.set(bike, false) }, text("its_me")),
        h("button", { class: "button", "data-key": `again ${bike.id}`, onclick: () => this.set(bike, true) }, text("guard_again")),
        h("button", { class: "button", "data-key": `report ${bike.id}`, onclick: () => this.report(bike) }, text("theft_report"))));
    return element;
  }

  /** @param {Bike} bike @param {boolean} isGuarded */
  set(bike, isGuarded) {
    const action = isGuarded ? "alarm_arm_away" : "alarm_disarm";
    this.hass.callService("alarm_control_panel", action, {}, { entity_id: bike.has.guard }).catch(() => {});
  }

  /** Download the report: a page to print. @param {Bike} bike */
  async report(bike) {
    try {
      const { html } = await ask(this.hass, "theft_report", { device_id: bike.id }, []);
      const url = URL.createObjectURL(new Blob([html], { type: "text/html" }));
      download(url, `${bike.name}.html`);
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      this.dispatchEvent(new CustomEvent("hass-notification", { bubbles: true, composed: true, detail: { message } }));
    }
  }

  /** @param {Bike} bike */
  open(bike) {
    const detail = { entityId: bike.tracker };
    this.dispatchEvent(new CustomEvent("hass-more-info", { bubbles: true, composed: true, detail }));
  }

  getCardSize() {
    return Math.ceil(this.bikes.length / 2) + 1;
  }

  getGridOptions() {
    return { columns: "full", min_columns: 6, rows: "auto" };
  }

  static getConfigForm() {
    return Card.form();
  }
}

/** @param {Hass} hass @param {Bike} bike */
const isTriggered = (hass, bike) => stateOf(hass, bike, "guard")?.state === "triggered";

/** @param {Hass} hass @param {Bike} bike */
const isOffline = (hass, bike) => ["off", ...GONE].includes(stateOf(hass, bike, "online")?.state ?? "");

/** @param {Hass} hass @param {Bike} bike */
function batteryOf(hass, bike) {
  const battery = stateOf(hass, bike, "battery");
  return battery && !GONE.includes(battery.state) ? hass.formatEntityState(battery) : "";
}

/** @param {Hass} hass @param {Bike} bike @param {import("./base.js").Formats} formats */
function whereOf(hass, bike, formats) {
  const online = stateOf(hass, bike, "online");
  if (hass.states[bike.tracker].state === "unavailable") return text("no_contact");
  const place = placeOf(hass, bike);
  if (online?.state !== "off") return place;
  return `${text("offline_since", { time: formats.moment(new Date(online.last_changed)) })} · ${place}`;
}
