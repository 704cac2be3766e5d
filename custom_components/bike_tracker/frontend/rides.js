// The card with rides: a map with the chosen one, and the list by day.

import { Card, dot, h, icon, refreshCards, text } from "./base.js";
import { book, keyOf } from "./book.js";
import { RouteMap, routeOf, trackSince } from "./map.js";

export class RidesCard extends Card {
  static style = `
.both { flex: 1; min-height: 0; display: flex; flex-direction: column; }
.mapped { display: flex; flex-direction: column; flex: 1; min-height: 0; }
.map { flex: 1; min-height: 300px; position: relative; }
ha-map { position: absolute; inset: 0; height: 100%; width: 100%; z-index: 0; }
.info { padding: 4px 8px 8px 16px; align-items: start; }
:host(:dir(rtl)) .info { padding: 4px 16px 8px 8px; }
.info .wide { padding-top: 6px; }
.info p { overflow-wrap: anywhere; }
.buttons button { min-width: 44px; text-align: center; }
.list { overflow-y: auto; padding: 4px 8px 8px; }
.day { content-visibility: auto; contain-intrinsic-height: auto 140px; }
h3 { padding: 12px 8px 4px; justify-content: space-between; }
li button { width: 100%; padding: 0 8px; }
li button[aria-current="true"] { background: var(--secondary-background-color); font-weight: 500; }
.more { display: block; margin: 8px auto; }
@media (min-width: 871px) { .list { max-height: 56vh; } .map { min-height: 56vh; } }
@container (min-width: 720px) {
  .both { flex-direction: row; }
  .both .list { width: 300px; max-height: none; }
  .both .mapped { min-height: 420px; }
}`;

  constructor() {
    super();
    this.map = new RouteMap();
    this.info = h("div", { class: "row info", "aria-live": "polite" });
    this.list = h("div", { class: "list" });
    this.drawn = "";
    this.more = h("button", { class: "button more", "data-key": "more", onclick: () => book.more(this.hass) });
    this.watcher = new IntersectionObserver(
      ([{ isIntersecting }]) => isIntersecting && !book.period && !book.error && book.more(this.hass),
      { rootMargin: "200px" },
    );
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.watcher.disconnect();
    this.drawn = "";
  }

  /** @param {CardConfig} config */
  setConfig(config) {
    super.setConfig(config);
    const show = config.show ?? "both";
    const mapped = show !== "list" && h("div", { class: "mapped" }, this.map.element, this.info);
    const listed = show !== "map" && this.list;
    const title = config.title && h("h2", { class: "pad" }, config.title);
    this.root.replaceChildren(h("ha-card", {}, title, h("div", { class: "both" }, mapped, listed)));
  }

  /** @param {Hass} hass */
  render(hass) {
    book.follow(hass);
    const { bikes } = this;
    const rides = book.of(hass, bikes);
    if (this.config.show !== "map") this.renderList(bikes, rides);
    if (this.config.show !== "list") void this.renderMap(hass, bikes, rides);
  }

  /** @param {Hass} hass @param {Bike[]} bikes @param {Ride[]} rides */
  async renderMap(hass, bikes, rides) {
    const ride = book.chosenOf(rides);
    const bike = bikes.find(({ id }) => id === ride?.device_id);
    if (!ride || !bike) {
      const note = book.error || text(book.isLoading ? "loading" : bikes.length ? "no_rides" : "no_bikes");
      this.fill(this.info, h("p", { class: "wide note" }, note));
      return this.map.show(bikes, null, `${bikes.length}`);
    }
    const isOpen = !ride.ended_at;
    this.renderInfo(ride, bike, rides);
    const loading = isOpen ? trackSince(hass, bike, ride.started_at) : routeOf(hass, ride);
    const points = await loading.catch(() => []);
    if (book.chosenOf(rides) !== ride) return;
    const route = this.info.querySelector(".route");
    if (route && !points.length) route.textContent = text("no_route");
    await this.map.show(bikes, { bike, points, isOpen }, `${keyOf(ride)} ${points.length > 0}`);
  }

  /** @param {Ride} ride @param {Bike} bike @param {Ride[]} rides */
  renderInfo(ride, bike, rides) {
    const { formats } = this;
    const start = new Date(ride.started_at);
    const end = ride.ended_at ? formats.time(new Date(ride.ended_at)) : text("under_way");
    const facts = [formats.distance(ride.distance), formats.duration(ride.duration)];
    if (ride.maximum_speed) facts.push(text("maximum", { speed: formats.speed(ride.maximum_speed) }));
    const places = [ride.start, ride.end].map((it) => it && (it.zone || it.address || null));
    const way = places.some(Boolean) ? places.map((place) => place || "?").join(" → ") : "";
    const at = rides.indexOf(ride);
    const go = (/** @type {string} */ key, /** @type {string} */ name, /** @type {Ride | undefined} */ to) =>
      h("button", { "data-key": key, "aria-label": text(key), title: text(key), disabled: !to,
        onclick: () => to && book.choose(to) }, h("span", { class: "flip" }, icon(name)));
    this.fill(
      this.info,
      h("div", { class: "wide" },
        h("div", { class: "row" }, dot(bike), h("h2", { class: "name" }, bike.name)),
        h("p", {}, `${formats.day(start)}, ${formats.time(start)} – ${end}`),
        h("p", {}, facts.join(" · ")),
        h("p", { class: "note" }, way),
        h("p", { class: "note route" })),
      h("div", { class: "row buttons" },
        go("previous", "chevron-left", rides[at + 1]),
        go("next", "chevron-right", rides[at - 1]),
        !!ride.ended_at && h("button", { "data-key": "gpx", "aria-label": text("gpx"), title: text("gpx"),
          onclick: () => this.download(ride) }, icon("download"))),
    );
  }

  /** Download a ride by a link that needs no sign-in, as apps have it. @param {Ride} ride */
  async download(ride) {
    const times = new URLSearchParams({ start: ride.started_at, end: ride.ended_at ?? "" });
    const path = `/api/bike_tracker/gpx/${ride.device_id}?${times}`;
    const signed = await this.hass.callWS({ type: "auth/sign_path", path });
    download(signed.path, `${ride.name} ${ride.started_at.slice(0, 10)}.gpx`);
  }

  /** @param {Bike[]} bikes @param {Ride[]} rides */
  renderList(bikes, rides) {
    const { period } = book;
    const shown = period
      ? rides.filter(({ started_at }) => Date.parse(started_at) >= period.start && Date.parse(started_at) < period.end)
      : rides;
    const chosen = book.chosenOf(rides);
    const drawn = JSON.stringify([shown, bikes, period, book.error, book.isLoading, book.isComplete, this.formats]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.drawList(bikes, shown);
    }
    for (const button of this.list.querySelectorAll("li button")) {
      button.setAttribute("aria-current", String(!!chosen && button.getAttribute("data-key") === keyOf(chosen)));
    }
  }

  /** @param {Bike[]} bikes @param {Ride[]} rides */
  drawList(bikes, rides) {
    const { period } = book;
    const named = new Map(bikes.map((bike) => [bike.id, bike]));
    /** @type {Map<string, Ride[]>} */
    const days = new Map();
    for (const ride of rides) {
      const key = this.formats.dayKey(new Date(ride.started_at));
      const day = days.get(key);
      if (day) day.push(ride);
      else days.set(key, [ride]);
    }
    const head = period && h("div", { class: "row" }, h("h2", { class: "wide pad" }, period.label),
      h("button", { class: "button", "data-key": "all", onclick: () => choosePeriod(null) }, text("all_rides")));
    const note = book.error || (!rides.length && text(book.isLoading ? "loading" : bikes.length ? "no_rides" : "no_bikes"));
    this.more.textContent = text("earlier");
    this.fill(this.list, head,
      ...[...days.values()].map((day) => this.dayOf(day, named)),
      note ? h("p", { class: "note pad", role: "status" }, note) : null,
      !period && !book.isComplete && bikes.length > 0 && this.more);
    this.watcher.disconnect();
    this.watcher.observe(this.more);
  }

  /** @param {Ride[]} rides @param {Map<string, Bike>} bikes */
  dayOf(rides, bikes) {
    const { formats } = this;
    const km = rides.reduce((sum, { distance }) => sum + distance, 0);
    return h("section", { class: "day" },
      h("h3", { class: "row" }, h("span", {}, formats.day(new Date(rides[0].started_at))),
        h("span", { class: "number" }, formats.distance(km))),
      h("ul", {}, ...rides.map((ride) => {
        const bike = /** @type {Bike} */ (bikes.get(ride.device_id));
        return h("li", {}, h("button", { class: "row", "data-key": keyOf(ride), onclick: () => book.choose(ride) },
          h("span", { class: "number" }, formats.time(new Date(ride.started_at))), dot(bike),
          h("span", { class: "wide name" }, bike.name),
          h("span", { class: "number" }, ride.ended_at ? formats.distance(ride.distance) : text("under_way"))));
      })));
  }

  getCardSize() {
    return 8;
  }

  getGridOptions() {
    return { columns: 12, min_columns: 6, rows: "auto" };
  }

  static getConfigForm() {
    const options = ["both", "map", "list"].map((value) => ({ value, label: text(`form_${value}`) }));
    return Card.form(
      { name: "title", selector: { text: {} } },
      { name: "show", default: "both", selector: { select: { options } } },
    );
  }
}

/** Show the rides of a period in all lists, or all rides. */
export function choosePeriod(/** @type {typeof book.period} */ period) {
  book.period = period;
  refreshCards();
}

/** @param {string} url @param {string} name */
export function download(url, name) {
  const link = h("a", { href: url, download: name, target: "_blank" });
  document.body.append(link);
  link.click();
  link.remove();
}

