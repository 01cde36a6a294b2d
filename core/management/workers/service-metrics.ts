import type { Json, JsonObject } from "../../agent/live/merge-patch.js";
import { numberIn } from "./documents.js";
import { isObject } from "./merged.js";

const MEAN = "serviceTime";
const WEIGHT = "outgoingTransactions";

/** The metrics by service of several workers as one: counts are summed, and times are means over all transactions. */
export function serviceMetricsOf(views: readonly JsonObject[]): JsonObject {
  const names = new Set(views.flatMap((view) => Object.keys(view)));
  return Object.fromEntries([...names].map((name) => [name, memberOf(name, views)]));
}

function memberOf(name: string, views: readonly JsonObject[]): Json {
  if (name === MEAN) {
    const weight = views.reduce((sum, view) => sum + numberIn(view, WEIGHT), 0);
    const whole = views.reduce((sum, view) => sum + numberIn(view, MEAN) * numberIn(view, WEIGHT), 0);
    return weight === 0 ? 0 : whole / weight;
  }
  const nested = views.map((view) => view[name]).filter(isObject);
  if (nested.length > 0) return serviceMetricsOf(nested);
  return views.reduce((sum, view) => sum + numberIn(view, name), 0);
}
