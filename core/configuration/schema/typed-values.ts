import convict from "convict";
import type { Property, Schema } from "../../sdk/index.js";
import { type Format, formats } from "./formats.js";

/** The valid values of a schema, and the reason for each value that is not valid. */
export interface TypedValues {
  readonly values: ReadonlyMap<string, unknown>;
  readonly reasons: ReadonlyMap<string, string>;
}

/** What was given for a property: its text, or for the format `map` its entries. */
type Contents = ReadonlyMap<string, string | Readonly<Record<string, string>>>;

/** Converts and validates the given values, and the defaults of the other properties. */
export function typedValues(schema: Schema, contents: Contents): TypedValues {
  const maps = Object.entries(schema)
    .filter(([, property]) => property.format === "map")
    .map(([name, property]) => [name, contents.get(name) ?? property.default] as const);
  const texts = Object.entries(schema).filter(([, property]) => property.format !== "map");
  const { values, reasons } = readByConvict(texts, contents);
  return { values: new Map([...values, ...maps].filter(([, value]) => value !== undefined)), reasons };
}

// convict gets no environment and no arguments: precedence is decided before, where the location of a value is known.
function readByConvict(properties: readonly (readonly [string, Property])[], contents: Contents): TypedValues {
  const reasons = new Map<string, string>();
  const entries = properties.map(([name, property]) => [
    escaped(name),
    entry(property, (reason) => reasons.set(name, reason)),
  ]);
  const config = convict<Record<string, unknown>>(Object.fromEntries(entries), { env: {}, args: [] });
  config.load(
    Object.fromEntries(
      properties.flatMap(([name]) => (contents.has(name) ? [[escaped(name), contents.get(name)]] : [])),
    ),
  );
  config.validate({ allowed: "strict" });
  const typed = config.getProperties();
  const values = properties.map(([name]) => [name, typed[escaped(name)]] as const);
  return { values: new Map(values.filter(([name]) => !reasons.has(name))), reasons };
}

/** convict reads dots as nesting, while `backend.enable_cache` is one name. */
function escaped(name: string): string {
  return encodeURIComponent(name).replaceAll(".", "%2E");
}

type Report = (reason: string) => void;

function entry(property: Property, report: Report) {
  const format = typeof property.format === "string" ? property.format : "choice";
  return { doc: property.doc, format, default: property.default, property, report };
}

/** The schema entry of a property, as convict passes it to a format. */
interface Entry extends convict.SchemaObj<unknown> {
  readonly property: Property;
  readonly report: Report;
}

// convict joins the messages of all invalid values into one text; a callback keeps the reasons by property.
function convictFormat({ coerce, reason }: Format) {
  return {
    coerce,
    validate: (value: unknown, { property, report }: Entry): void => {
      const refused = reason(value, property);
      if (refused !== undefined) report(refused);
    },
  };
}

convict.addFormats(
  Object.fromEntries(Object.entries<Format>(formats).map(([name, format]) => [name, convictFormat(format)])),
);
