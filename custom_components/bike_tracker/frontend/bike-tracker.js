// Adds the cards and the dashboard to Home Assistant's frontend.

import { bikesOf, loadTexts, text } from "./base.js";
import { BikesCard } from "./bikes.js";
import { DistanceCard } from "./distance.js";
import { RidesCard } from "./rides.js";

const CARDS = { bikes: BikesCard, rides: RidesCard, distance: DistanceCard };
/** Names until the texts are loaded. @type {Record<string, string>} */
const NAMES = { bikes_card: "Bikes", rides_card: "Rides", distance_card: "Distance", dashboard: "Bikes" };

/** The dashboard that *Add dashboard* offers. */
class BikesStrategy extends HTMLElement {
	static noEditor = true;

	/** Fill the form for a new dashboard. @param {Hass} hass */
	static async getCreateSuggestions(hass) {
		await loadTexts(hass);
		return { title: text("dashboard"), icon: "mdi:bicycle" };
	}

	/** @param {object} _config @param {Hass} hass */
	static async generate(_config, hass) {
		await loadTexts(hass);
		const title = text("dashboard");
		const card = (/** @type {string} */ kind, options = {}) => ({ type: `custom:bike-tracker-${kind}-card`, ...options });
		const sections = [
			{ type: "grid", column_span: 2, cards: [card("bikes")] },
			{ type: "grid", cards: [card("rides", { show: "map" })] },
			{ type: "grid", cards: [card("distance"), card("rides", { show: "list" })] },
		];
		return { title, views: [{ title, type: "sections", max_columns: 2, sections }] };
	}
}

/** @param {string} name @param {CustomElementConstructor} element */
function define(name, element) {
	if (!customElements.get(name)) customElements.define(name, element);
}

/** Offer something under the name that it has once the texts are loaded. @param {string} key @param {object} what */
const named = (key, what) => Object.defineProperties(what, {
	name: { enumerable: true, get: () => text(key) || NAMES[key] },
	description: { enumerable: true, get: () => text(`${key}_description`) },
});

/** Offer a card, also for each of our entities. @param {string} kind */
function offer(kind) {
	const type = `bike-tracker-${kind}-card`;
	/** @param {Hass} hass @param {string} entityId */
	const getEntitySuggestion = (hass, entityId) => {
		const bike = bikesOf(hass).find(({ has }) => Object.values(has).includes(entityId));
		return bike ? { config: { type: `custom:${type}`, bikes: [bike.id] } } : null;
	};
	(window.customCards ??= []).push(named(`${kind}_card`, { type, preview: true, getEntitySuggestion }));
}

async function start() {
	Object.keys(CARDS).forEach(offer);
	(window.customStrategies ??= []).push(named("dashboard", { type: "bike-tracker", strategyType: "dashboard" }));
	// Releases from 2026.7 to 2026.10 replace the registry of elements before they define the app.
	await customElements.whenDefined("home-assistant");
	for (const [kind, card] of Object.entries(CARDS)) define(`bike-tracker-${kind}-card`, card);
	define("ll-strategy-dashboard-bike-tracker", BikesStrategy);
	/** @type {(HTMLElement & {hass?: Hass}) | null} */
	const app = document.querySelector("home-assistant");
	while (app && !app.hass?.loadBackendTranslation) await new Promise((done) => setTimeout(done, 500));
	if (app?.hass) await loadTexts(app.hass);
}

// After an update the module of the version before may run already.
if (!customElements.get("bike-tracker-rides-card")) void start();
