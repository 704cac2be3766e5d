// Adds the cards and the dashboard to Home Assistant's frontend.

import { bikesOf, Card, loadTexts, text } from "./base.js";
import { BikesCard } from "./bikes.js";
import { DistanceCard } from "./distance.js";
import { RidesCard } from "./rides.js";

/** @type {Record<string, typeof Card>} */
const CARDS = { bikes: BikesCard, rides: RidesCard, distance: DistanceCard };
/** English until the texts are loaded. */
const NAMES = /** @type {Record<string, string>} */ ({
  bikes_card: "Bikes", rides_card: "Rides", distance_card: "Distance", dashboard: "Bikes",
});

/** The dashboard that *Add dashboard* offers. */
class BikesStrategy extends HTMLElement {
  static noEditor = true;

  /** @param {object} _config @param {Hass} hass */
  static async generate(_config, hass) {
    await loadTexts(hass);
    const card = (/** @type {string} */ kind, options = {}) => ({ type: `custom:bike-tracker-${kind}-card`, ...options });
    const section = (/** @type {number} */ column_span, /** @type {object[]} */ ...cards) =>
      ({ type: "grid", column_span, cards });
    const sections = [
      section(2, card("bikes")),
      section(1, card("rides", { show: "map" })),
      section(1, card("distance"), card("rides", { show: "list" })),
    ];
    return { title: text("dashboard"), views: [{ title: text("dashboard"), type: "sections", max_columns: 2, sections }] };
  }
}

function define() {
  const elements = Object.entries(CARDS).map(([kind, card]) => ({ name: `bike-tracker-${kind}-card`, card }));
  for (const { name, card } of [...elements, { name: "ll-strategy-dashboard-bike-tracker", card: BikesStrategy }]) {
    if (!customElements.get(name)) customElements.define(name, card);
  }
}

/** Offer the cards for our entities, under the names that texts have once they are loaded. */
function offer() {
  /** @param {string} key */
  const named = (key) => ({
    get name() { return text(key) || NAMES[key]; },
    get description() { return text(`${key}_description`); },
  });
  window.customCards ??= [];
  for (const kind of Object.keys(CARDS)) {
    const type = `bike-tracker-${kind}-card`;
    if (window.customCards.some((card) => card.type === type)) return;
    window.customCards.push(Object.defineProperties({
      type, preview: true,
      getEntitySuggestion(/** @type {Hass} */ hass, /** @type {string} */ entityId) {
        const entity = hass.entities[entityId];
        const id = entity?.platform === "bike_tracker" && entity.device_id;
        const bikes = id && bikesOf(hass, [id]);
        return bikes && bikes.length ? { config: { type: `custom:${type}`, bikes: [bikes[0].id] } } : null;
      },
    }, Object.getOwnPropertyDescriptors(named(`${kind}_card`))));
  }
  window.customStrategies ??= [];
  window.customStrategies.push(Object.defineProperties(
    { type: "bike-tracker", strategyType: "dashboard" }, Object.getOwnPropertyDescriptors(named("dashboard"))));
}

async function start() {
  offer();
  // Before the app is defined, releases from 2026.7 to 2026.10 replace the registry of elements.
  await customElements.whenDefined("home-assistant");
  define();
  const app = /** @type {HTMLElement & {hass?: Hass}} */ (document.querySelector("home-assistant"));
  while (app && !app.hass?.loadBackendTranslation) await new Promise((done) => setTimeout(done, 500));
  if (app?.hass) await loadTexts(app.hass);
}

void start();
