import type { AnyPlugin } from "./define-plugin.js";
import { isRecord } from "./event.js";
import type { Property, Schema } from "./schema.js";

/** The schema in which every field is a property of its own, as a file writes it: `retry.times` instead of `retry`. */
function withoutFields(schema: Schema): Schema {
  return Object.fromEntries(flatEntries(schema));
}

/** The entries of the same schema. */
export function flatEntries(schema: Schema): readonly (readonly [name: string, property: Property])[] {
  return Object.entries(schema).flatMap(([name, property]) => {
    const fields = fieldsOf(property);
    if (fields === undefined) return [[name, property] as const];
    return flatEntries(fields).map(([field, one]) => [`${name}.${field}`, inherited(property, one)] as const);
  });
}

/** The fields of a property that is an object; undefined for any other. */
export function fieldsOf({ format }: Property): Schema | undefined {
  return typeof format === "object" && "fields" in format ? format.fields : undefined;
}

function inherited({ sensitive, deprecated }: Property, field: Property): Property {
  return {
    ...field,
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

/** The configuration that a plugin gets: the values of the schema without fields, those of fields in their objects. */
function nested(schema: Schema, values: unknown, prefix = ""): Readonly<Record<string, unknown>> {
  const flat = isRecord(values) ? values : {};
  const entries = Object.entries(schema).map(([name, property]) => {
    const fields = fieldsOf(property);
    return [name, fields === undefined ? flat[`${prefix}${name}`] : nested(fields, flat, `${prefix}${name}.`)];
  });
  return Object.fromEntries(entries);
}

/** The plugin with a schema without fields, which is what the kernel reads; its functions get the objects it declares. */
export function flatPlugin(definition: AnyPlugin): AnyPlugin {
  const { config: schema, check, refusedHeaders, query, explain, data } = definition;
  if (Object.values(schema).every((property) => fieldsOf(property) === undefined)) return definition;
  return {
    ...definition,
    config: withoutFields(schema),
    create: (config, context) => definition.create(nested(schema, config), context),
    ...(check && { check: (config, linked) => check.call(definition, nested(schema, config), linked) }),
    ...(refusedHeaders && {
      refusedHeaders: (config, headers) => refusedHeaders.call(definition, nested(schema, config), headers),
    }),
    ...(query && { query: (config, text, context) => query.call(definition, nested(schema, config), text, context) }),
    ...(explain && {
      explain: (config, event, context) => explain.call(definition, nested(schema, config), event, context),
    }),
    ...(data && { data: (config, context) => data.call(definition, nested(schema, config), context) }),
  };
}
