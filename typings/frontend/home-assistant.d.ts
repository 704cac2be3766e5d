// What the cards use of Home Assistant's frontend, which publishes no types.

type Localize = (key: string, values?: Record<string, string | number>) => string;

interface HassState {
  entity_id: string;
  state: string;
  attributes: Record<string, any>;
  last_changed: string;
  last_updated: string;
}

interface Hass {
  [key: string]: unknown;
  states: Record<string, HassState>;
  entities: Record<
    string,
    { entity_id: string; platform?: string; device_id?: string; translation_key?: string }
  >;
  devices: Record<string, { name: string | null; name_by_user?: string | null }>;
  locale: {
    language: string;
    date_format: string;
    number_format: string;
    time_format: string;
    time_zone: string;
  };
  config: { time_zone: string; unit_system: { length: string } };
  connected: boolean;
  callService(
    domain: string,
    service: string,
    data?: object,
    target?: object,
    notifyOnError?: boolean,
    returnResponse?: boolean,
  ): Promise<any>;
  callWS(message: { type: string; [key: string]: unknown }): Promise<any>;
  formatEntityState(state: HassState): string;
  loadBackendTranslation(category: string, integration: string): Promise<Localize>;
}

interface HaMap extends HTMLElement {
  entities: { entity_id: string; color: string }[];
  paths: { points: TimedPoint[]; name: string; color: string; fullDatetime: boolean }[];
  autoFit: boolean;
  fitMap(options?: { unpause_autofit?: boolean }): void;
  fitBounds(points: [number, number][], options?: { zoom?: number; pad?: number }): void;
}

interface Window {
  customCards?: object[];
  customStrategies?: object[];
  loadCardHelpers(): Promise<{ createCardElement(config: object): HTMLElement }>;
}
