// Home Assistant as the cards see it, without a server. A test passes its house to `window.show`.

const DAY_MS = 86_400_000;
for (const name of ["home-assistant", "ha-card", "ha-icon"]) customElements.define(name, class extends HTMLElement {});
class HaMap extends HTMLElement {
  fitMap() {}
  fitBounds(points) { this.fitted = points; }
}
// While `isOffline`, the module of the map cannot be loaded.
window.loadCardHelpers = async () => ({
  createCardElement: () => window.isOffline || customElements.get("ha-map") || customElements.define("ha-map", HaMap),
});
window.calls = [];

const { now } = Date;
let tick;
window.setInterval = (run) => { tick = run; };
/** Let the clock go on, and the interval end. */
window.later = (minutes) => {
  const then = Date.now;
  Date.now = () => then() + 60_000 * minutes;
  tick?.();
};

/** Return the answer of an action. */
function answer(house, action, { start_date_time, end_date_time, routes, period, device_id }) {
  const ridden = house.rides.filter((ride) => device_id.includes(ride.device_id));
  if (action === "get_rides") {
    const [start, end] = [start_date_time, end_date_time].map(Date.parse);
    const rides = ridden.filter((ride) => Date.parse(ride.ended_at) >= start && Date.parse(ride.started_at) <= end);
    return { rides: rides.map((ride) => ({ ...ride, route: routes ? ride.route : undefined })) };
  }
  if (action === "where") return { bikes: [house.where] };
  const days = { week: 7, month: 30, year: 365 }[period];
  const periods = [...Array(8).keys()].reverse().map((ago) => {
    const [start, end] = [ago + 1, ago].map((it) => Date.now() - it * days * DAY_MS);
    const inside = ridden.filter(({ started_at }) => Date.parse(started_at) >= start && Date.parse(started_at) < end);
    const sum = (rides) => ({ rides: rides.length, distance: rides.reduce((km, ride) => km + ride.distance, 0) });
    const bikes = device_id.map((id) => ({ device_id: id, ...sum(inside.filter((ride) => ride.device_id === id)) }));
    return { start: new Date(start).toISOString(), end: new Date(end).toISOString(), bikes, total: sum(inside) };
  });
  return { periods };
}

/** Return the object `hass` that Home Assistant gives to cards. */
function hassOf(house) {
  const entities = {}, devices = {}, states = {};
  for (const { id, name, has } of house.bikes) {
    devices[id] = { name };
    for (const [key, value] of Object.entries(has)) {
      const entity_id = `${key}.${id}`;
      entities[entity_id] = { entity_id, platform: "bike_tracker", device_id: id, translation_key: key };
      const times = { last_changed: house.now, last_updated: house.now };
      if (value !== null) states[entity_id] = { entity_id, ...times, ...(typeof value === "string" ? { state: value, attributes: {} } : value) };
    }
  }
  return {
    entities, devices, states, locale: house.locale, config: house.config,
    formatEntityState: ({ state, attributes }) => house.words[state] ?? [state, attributes.unit_of_measurement].filter(Boolean).join(" "),
    loadBackendTranslation: async () => (key, values = {}) =>
      key.split(".").slice(3).reduce((texts, name) => texts?.[name], house.texts)?.replace(/\{(\w+)\}/g, (_, name) => values[name]),
    async callWS({ type }) {
      calls.push({ action: type });
      if (type.startsWith("history")) return house.history;
      return Object.fromEntries(house.bikes.map(({ id, color }) => [`rides.${id}`, { options: { calendar: { color } } }]));
    },
    async callService(domain, action, data, target, notify) {
      calls.push({ action: `${domain}.${action}`, notify, ...data, ...target });
      if (house.error) throw { message: "In English", translation_key: "database_not_readable", translation_placeholders: { error: house.error } };
      return domain === "bike_tracker" ? { response: answer(house, action, data) } : {};
    },
  };
}

/** Show a house in all cards. If the cards are already shown, only update them. */
window.show = async (house) => {
  const app = document.querySelector("home-assistant");
  const before = app.hass;
  app.hass = hassOf(house);
  // Like Home Assistant, keep the old object if its content is the same.
  for (const key of ["entities", "devices"]) if (JSON.stringify(before?.[key]) === JSON.stringify(app.hass[key])) app.hass[key] = before[key];
  await customElements.whenDefined("bike-tracker-distance-card");
  for (const kind of ["bikes", "rides", "distance"]) {
    const name = `bike-tracker-${kind}-card`;
    const card = document.querySelector(name) ?? document.createElement(name);
    if (!card.isConnected) card.setConfig({ type: `custom:${name}` });
    card.hass = app.hass;
    if (!card.isConnected) app.append(card);
  }
};

/** Remove the cards, set the clock, and forget the loaded rides and the recorded calls. */
window.clear = async () => {
  Date.now = now;
  const { book } = await import("/frontend/book.js");
  Object.assign(book, new book.constructor());
  const app = document.querySelector("home-assistant");
  app.hass = undefined;
  app.replaceChildren();
  document.dir = document.body.style = "";
  calls.length = 0;
};
