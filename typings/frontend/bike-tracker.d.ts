// What the cards know of bikes, and what the actions of the integration answer.

type Bike = import("../../custom_components/bike_tracker/frontend/base.js").Bike;

interface CardConfig {
  type: string;
  bikes?: string[];
  show?: "both" | "map" | "list";
  period?: string;
  /** The list has the rides between these times, in milliseconds. */
  between?: number[];
}

interface Place {
  latitude: number;
  longitude: number;
  zone: string | null;
  address?: string | null;
}

/** The place of a bike, as the action `where` answers. */
interface Where {
  text: string;
  /** The name of the zone. */
  place: string | null;
  address: string | null;
  latitude: number;
  longitude: number;
  /** Null if no place is known. */
  position_time: string | null;
}

interface Ride {
  /** Device and start. */
  key: string;
  /** Start, in milliseconds. */
  at: number;
  device_id: string;
  name: string;
  started_at: string;
  /** Missing while the ride is under way. */
  ended_at?: string;
  distance: number;
  duration: number;
  maximum_speed?: number | null;
  start?: Place | null;
  end?: Place | null;
  route?: string | null;
}

interface TimedPoint {
  point: [number, number];
  timestamp: Date;
  /** Number of its line: an outage ends a line. */
  line?: number;
}

interface Sums {
  rides: number;
  distance: number;
}

interface Period {
  start: string;
  end: string;
  bikes: (Sums & { device_id: string })[];
  total: Sums;
}

interface Route {
  bike: Bike;
  points: TimedPoint[];
}

type Attributes = Record<string, string | boolean | (() => void) | undefined>;
type Child = Node | string | null | false | undefined;
