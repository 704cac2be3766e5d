// Adds cards and a dashboard.

import { bikesOf, loadTexts, text, use } from "./base.js";
import { BikesCard } from "./bikes.js";
import { DistanceCard } from "./distance.js";
import { RouteMap } from "./map.js";
import { RidesCard } from "./rides.js";

const CARDS = { bikes: BikesCard, rides: RidesCard, distance: DistanceCard };

class BikesStrategy extends HTMLElement {
	static noEditor = true;

	/** @param {Hass} hass */
	static async getCreateSuggestions(hass) {
		await loadTexts(hass);
		return { title: text("dashboard"), icon: "mdi:bicycle" };
	}

	/** @param {Hass} hass */
	static async generate(_config = {}, hass) {
		await loadTexts(hass);
		const title = text("dashboard");
		const card = (kind = "", options = {}) => ({ type: `custom:bike-tracker-${kind}-card`, ...options });
		const sections = [
			{ type: "grid", column_span: 2, cards: [card("bikes")] },
			{ type: "grid", cards: [card("rides", { show: "map" })] },
			{ type: "grid", cards: [card("distance"), card("rides", { show: "list" })] },
		];
		return { title, views: [{ title, type: "sections", max_columns: 2, sections }] };
	}
}

function offer(kind = "", options = {}) {
	const type = `bike-tracker-${kind}-card`;
	/** @param {Hass} hass */
	const getEntitySuggestion = (hass, entityId = "") => {
		use(hass);
		const bike = bikesOf().find(({ has }) => Object.values(has).includes(entityId));
		return bike ? { config: { type: `custom:${type}`, ...options, bikes: [bike.id] } } : null;
	};
	const name = `${kind}_card`;
	(window.customCards ??= []).push({ type, name: text(name), description: text(`${name}_description`), preview: true, getEntitySuggestion });
}

async function start() {
	// *Add dashboard* may open before the texts load.
	(window.customStrategies ??= []).push({
		type: "bike-tracker",
		strategyType: "dashboard",
		get name() { return text("dashboard") || "Bikes"; },
		get description() { return text("dashboard_description"); },
	});
	// From 2026.7 to 2026.10, the app replaces the element registry.
	await customElements.whenDefined("home-assistant");
	customElements.define("bike-tracker-map", RouteMap);
	for (const [kind, card] of Object.entries(CARDS)) customElements.define(`bike-tracker-${kind}-card`, card);
	customElements.define("ll-strategy-dashboard-bike-tracker", BikesStrategy);
	/** @type {any} */
	const app = document.querySelector("home-assistant");
	while (app && !app.hass?.loadBackendTranslation) await new Promise((done) => setTimeout(done, 50));
	if (app?.hass) await loadTexts(app.hass);
	for (const [kind, card] of Object.entries(CARDS)) offer(kind, card.getStubConfig());
}

// After an update, the old module may run.
if (!customElements.get("bike-tracker-rides-card")) void start();
