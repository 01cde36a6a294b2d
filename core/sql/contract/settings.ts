import { createHash } from "node:crypto";
import { type Database, dataModels, type Naming, parseDataModel, refusedModel } from "../../ngsi/index.js";
import type { PropertyFault } from "../../sdk/index.js";
import type { Dialect } from "./dialect.js";
import type { SqlConfig, sqlSchema } from "./schema.js";

/** What the formats of {@link sqlSchema} cannot judge: for the `check` of your plugin. */
export function sqlFaults(
  config: SqlConfig,
  { database }: Pick<Dialect, "database">,
): readonly PropertyFault<typeof sqlSchema>[] {
  const unfit = modelFault(config, database);
  const lastData = config.last_data_mode !== "insert";
  return [
    ...(unfit === undefined ? [] : [{ property: "data_model", reason: unfit } as const]),
    ...(lastData && config.last_data_table_suffix === ""
      ? [
          {
            property: "last_data_table_suffix",
            reason: "must not be empty: last data need a table of their own",
          } as const,
        ]
      : []),
    ...(lastData && config.last_data_unique_key.length === 0
      ? [{ property: "last_data_unique_key", reason: "must name a column, for example entityId" } as const]
      : []),
  ];
}

function modelFault({ data_model }: SqlConfig, database: Dialect["database"]): string | undefined {
  const model = parseDataModel(data_model);
  if (model === undefined) return `"${data_model}" is not one of ${dataModels.join(", ")}`;
  return refusedModel(model, database);
}

/** How names are made, by the configuration and the rules of the database. */
export function namingOf(config: SqlConfig, database: Database): Naming {
  return {
    dataModel: parseDataModel(config.data_model) ?? "dm-by-entity",
    encoding: config.enable_encoding,
    database,
    lowercase: config.enable_lowercase ?? false,
  };
}

/**
 * A short text that is the same for configurations which make the same rows in the same places: all properties but those
 * of the way to the server.
 */
export function settingsHash(config: SqlConfig): string {
  const own = Object.entries(config).filter(([name]) => !name.startsWith("rdb_") && !elsewhere.has(name));
  const text = JSON.stringify(own.sort(([one], [other]) => (one < other ? -1 : 1)));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** These decide what is stored or deleted, never where. */
const elsewhere: ReadonlySet<string> = new Set([
  "allowed_services",
  "protected_schemas",
  "persistence_policy.adopted_schemas",
]);
