import type { Property } from "../sdk/index.js";
import { errorAt, type Place } from "./fault-at.js";
import { mapPrefix, sharesItsName } from "./map-name.js";
import { fromSetting, type PropertyReading } from "./property-text.js";
import { type Setting, type Settings, settingsBelow } from "./setting.js";
import type { Environment } from "./surroundings.js";

interface MapProperty {
  readonly name: string;
  readonly property: Property;
  readonly settings: Settings;
}

/** Collects the lines below a property of the format `map`. */
export function propertyMap({ name, property, settings }: MapProperty, env: Environment): PropertyReading {
  const direct = sharesItsName(name) ? undefined : settings.get(name);
  if (direct !== undefined) {
    const reason = `must be given as ${name}.<name> = <value>`;
    return { state: "unreadable", faults: [errorAt({ key: direct.key, line: direct.line }, reason)] };
  }
  const nature = property.sensitive === undefined ? {} : { sensitive: property.sensitive };
  const readings = [...settingsBelow(settings, mapPrefix(name))].map(([entry, setting]) => ({
    entry,
    setting,
    ...fromSetting(nature, setting, env),
  }));
  const faults = readings.flatMap((reading) => reading.faults);
  if (readings.some(({ state }) => state === "unreadable")) return { state: "unreadable", faults };
  const entries = readings.flatMap(({ entry, state }) => (typeof state === "string" ? [] : [[entry, state.content]]));
  const first = readings[0];
  if (first === undefined || entries.length === 0) return { state: "absent", faults };
  return { state: { content: Object.fromEntries(entries), place: placeOf(first.setting) }, faults };
}

function placeOf({ key, line }: Setting): Place {
  return { key, line };
}
