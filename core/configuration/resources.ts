import type { Property, Schema } from "../sdk/index.js";
import type { SettingsReading } from "./component-settings.js";
import type { Place } from "./fault-at.js";
import type { ComponentBlock } from "./surroundings.js";

/** Something outside the program that a component uses, as its schema says. */
export interface Resource {
  readonly kind: Exclude<NonNullable<Property["resource"]>, "host">;
  /** The key of the component, for example `a1.sources.s`. */
  readonly owner: string;
  readonly value: unknown;
  /** Of a port: the address that is listened on; undefined where the schema names none. */
  readonly host: string | undefined;
  readonly place: Place;
}

/** The resources of one component, those at their defaults included. */
export function resourcesOf(
  schema: Schema,
  { key, line }: ComponentBlock,
  { values, places }: SettingsReading<Schema>,
): readonly Resource[] {
  const hostName = Object.keys(schema).find((name) => schema[name]?.resource === "host");
  const host = hostName === undefined ? undefined : values.get(hostName);
  return Object.entries(schema).flatMap(([name, { resource }]) => {
    const value = values.get(name);
    if (resource === undefined || resource === "host" || value === undefined) return [];
    const place = places.get(name) ?? { key: `${key}.${name}`, value: String(value), line };
    return [{ kind: resource, owner: key, value, host: typeof host === "string" ? host : undefined, place }];
  });
}
