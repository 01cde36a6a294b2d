import type { ConfigOf, Property, Schema } from "../../sdk/index.js";
import { type ConfigurationFault, type Environment, errorAt, type Location, nearest } from "../configuration-fault.js";
import type { ComponentBlock } from "../file/settings.js";
import { type Given, type PropertyReading, propertyMap, propertyText } from "./given-values.js";
import { choicesOf, typedValues, words } from "./typed-values.js";

export interface SettingsReading<S extends Schema> {
  /** Undefined when an error fault says why not. */
  readonly config: ConfigOf<S> | undefined;
  /** The valid values, also when others are not. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Where each property that is not at its default was given. */
  readonly locations: ReadonlyMap<string, Location>;
  readonly faults: readonly ConfigurationFault[];
}

/**
 * Reads the properties of a schema from the lines of a component and the environment; other lines are ignored. `hints`
 * say by property what may be written where it must be given.
 */
export function readSettings<const S extends Schema>(
  schema: S,
  block: ComponentBlock,
  environment: Environment,
  hints: Readonly<Record<string, string>> = {},
): SettingsReading<S> {
  const readings = Object.entries(schema).map(([name, property]) => readProperty(name, property, block, environment));
  const readable = readings.filter(({ state }) => state !== "unreadable");
  const given = new Map(readable.flatMap(givenByName));
  const { values, reasons } = typedValues(
    Object.fromEntries(readable.map(({ name, property }) => [name, property])),
    new Map([...given].map(([name, { content }]) => [name, content])),
  );
  const judged = readable.flatMap(({ name, property }) => {
    const location = given.get(name)?.location ?? { key: `${block.key}.${name}`, line: block.line };
    const reason = reasons.get(name) ?? (values.has(name) ? undefined : missing(property, hints[name]));
    return reason === undefined ? [] : [refusal(property, location, reason)];
  });
  const config = Object.fromEntries(values);
  return {
    config: isConfig(schema, config) ? config : undefined,
    values,
    locations: new Map([...given].map(([name, { location }]) => [name, location])),
    faults: [...readings.flatMap(({ faults }) => faults), ...judged],
  };
}

/** With what it is: the first sentence of its documentation. */
function missing({ doc }: Property, hint: string | undefined): string {
  const [sentence = ""] = doc.split(/\.(?: |$)/);
  const what = /^[A-Z][a-z]*\b/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
  return ["must be given", what].filter((part) => part !== "").join(": ") + (hint === undefined ? "" : `; ${hint}`);
}

interface NamedReading extends PropertyReading {
  readonly name: string;
  readonly property: Property;
}

function readProperty(
  name: string,
  property: Property,
  { settings }: ComponentBlock,
  environment: Environment,
): NamedReading {
  const reading =
    property.format === "map"
      ? propertyMap({ name, property, settings }, environment.env)
      : propertyText(property, settings.get(name), environment);
  return { name, property, ...reading };
}

function givenByName({ name, state }: NamedReading): readonly (readonly [string, Given])[] {
  return typeof state === "string" ? [] : [[name, state]];
}

function refusal({ format }: Property, location: Location, reason: string): ConfigurationFault {
  return errorAt(
    { ...location, nearest: location.value === undefined ? undefined : meant(format, location.value) },
    reason,
  );
}

function meant(format: Property["format"], value: string): string | undefined {
  if (format === "flag") return nearest(value, ["true", "false"]);
  const choices = choicesOf(format);
  if (Array.isArray(format)) return nearest(value, choices);
  const strange = words(value).find((word) => !choices.includes(word));
  return choices.length === 0 || strange === undefined ? undefined : nearest(strange, choices);
}

// Here values get the types of their schema: each one in the record was validated by its format.
function isConfig<S extends Schema>(schema: S, values: object): values is ConfigOf<S> {
  return Object.keys(schema).every((name) => Object.hasOwn(values, name));
}
