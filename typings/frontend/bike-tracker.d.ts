// What the cards know of bikes, and what the actions of the integration answer.

interface Bike {
  /** Device ID. */
  id: string;
  name: string;
  color: string;
  /** Entity ID of the device tracker. */
  tracker: string;
  /** Entity IDs by translation key. */
  has: Record<string, string>;
}

interface CardConfig {
  type: string;
  bikes?: string[];
  show?: "both" | "map" | "list";
  period?: string;
}

interface Place {
  latitude: number;
  longitude: number;
  zone: string | null;
  address?: string | null;
}

interface Ride {
  /** Device and start. */
  key: string;
  /** Start, in milliseconds. */
  at: number;
  device_id: string;
  name: string;
  started_at: string;
  /** Null while the ride is under way. */
  ended_at: string | null;
  distance: number;
  duration: number;
  maximum_speed: number | null;
  start: Place | null;
  end: Place | null;
  route?: string | null;
}

interface TimedPoint {
  point: [number, number];
  timestamp: Date;
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

interface Statistics {
  periods: Period[];
}

interface Route {
  bike: Bike;
  points: TimedPoint[];
  /** Whether the ride is under way. */
  isOpen?: boolean;
}

type Child = Node | string | null | false | undefined;
type OfBike<T> = (hass: Hass, bike: Bike, key?: string) => T;
