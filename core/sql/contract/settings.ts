import { createHash } from "node:crypto";
import { type Database, dataModels, type Naming, parseDataModel, refusedModel } from "../../ngsi/index.js";
import type { PropertyFault } from "../../sdk/index.js";
import type { Dialect } from "./dialect.js";
import type { SqlConfig, sqlSchema } from "./schema.js";

/** The faults that the formats of {@link sqlSchema} cannot detect, for the `check` of your plugin. */
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

/** The naming rules that follow from the configuration and the database. */
export function namingOf(config: SqlConfig, database: Database): Naming {
  return {
    dataModel: parseDataModel(config.data_model) ?? "dm-by-entity",
    encoding: config.enable_encoding,
    database,
    lowercase: config.enable_lowercase ?? false,
  };
}

/** A hash of the settings that determine tables and rows: all properties except those of the connection. */
export function settingsHash(config: SqlConfig): string {
  const own = Object.entries(config).filter(([name]) => !name.startsWith("rdb_") && !elsewhere.has(name));
  const text = JSON.stringify(own.sort(([one], [other]) => (one < other ? -1 : 1)));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** These decide whether something is stored or deleted, not where. */
const elsewhere: ReadonlySet<string> = new Set([
  "allowed_services",
  "protected_schemas",
  "persistence_policy.adopted_schemas",
]);
