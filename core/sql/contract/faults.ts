import { dataModels, parseDataModel, refusedModel } from "../../ngsi/index.js";
import type { PropertyFault } from "../../sdk/index.js";
import type { Dialect } from "./dialect.js";
import { dataModelOf, notificationColumns, type SqlConfig, type sqlSchema } from "./schema.js";

/** The faults that the formats of {@link sqlSchema} cannot detect, for the `check` of your plugin. @beta */
export function sqlFaults(
  config: SqlConfig,
  { database, partitions, views }: Pick<Dialect, "database" | "partitions" | "views">,
): readonly PropertyFault<typeof sqlSchema>[] {
  const unfit = modelFault(config, database);
  const lastData = config.last_data_mode !== "insert";
  const unknown = config.notification_columns.find((word) => !columnWords.has(word.toLowerCase()));
  return [
    ...(unfit === undefined ? [] : [unfit]),
    ...(unknown === undefined
      ? []
      : [
          {
            property: "notification_columns",
            reason: `"${unknown}" is not one of ${notificationColumns.join(", ")}`,
          } as const,
        ]),
    ...(config.views ? viewsFault(config, database, views !== undefined) : []),
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
    ...lifeFaults(config, { canPartition: partitions !== undefined, canChunk: partitions?.hypertables !== undefined }),
  ];
}

const columnWords: ReadonlySet<string> = new Set(notificationColumns.map((name) => name.toLowerCase()));

const SECONDS_OF_A_DAY = 86_400;

function lifeFaults(
  config: SqlConfig,
  { canPartition, canChunk }: { readonly canPartition: boolean; readonly canChunk: boolean },
): readonly { readonly property: "partition" | "retention_days" | "timescaledb"; readonly reason: string }[] {
  const { partition, retention_days: days, timescaledb, attr_native_types, attr_persistence } = config;
  const seconds = config["persistence_policy.expiration_time"];
  const typed = attr_native_types && attr_persistence === "column";
  return [
    ...(partition === "none" || canPartition
      ? []
      : [{ property: "partition", reason: "this database has no partitions; use none" } as const]),
    ...(days < 0 || seconds < 0 || days * SECONDS_OF_A_DAY === seconds
      ? []
      : [
          {
            property: "retention_days",
            reason: `${days} days and persistence_policy.expiration_time = ${seconds} seconds differ; set one of them`,
          } as const,
        ]),
    ...(timescaledb && (!canChunk || partition === "none" || !typed)
      ? [
          {
            property: "timescaledb",
            reason: "needs PostgreSQL, partition other than none, and attr_native_types = true in the column layout",
          } as const,
        ]
      : []),
  ];
}

function viewsFault(
  config: SqlConfig,
  database: Dialect["database"],
  isOffered: boolean,
): readonly PropertyFault<typeof sqlSchema>[] {
  const fault = (reason: string) => [{ property: "views", reason } as const];
  if (!isOffered)
    return fault(`views = "true" is not offered by a dialect for "${database}"; use false, or PostgreSQL or MySQL`);
  const model = dataModelOf(config);
  if (!model.includes("service-path")) return [];
  return fault(
    `needs tables of one entity type, and data_model is "${model}": use dm-by-entity or dm-by-entity-type, or false`,
  );
}

function modelFault(
  { data_model }: SqlConfig,
  database: Dialect["database"],
): PropertyFault<typeof sqlSchema> | undefined {
  const model = parseDataModel(data_model);
  const refused = model === undefined ? undefined : refusedModel(model, database);
  if (refused !== undefined) return { property: "data_model", reason: refused };
  if (model !== undefined) return undefined;
  const names = dataModels.filter((one) => refusedModel(one, database) === undefined);
  return { property: "data_model", reason: `must be one of: ${names.join(", ")}`, names };
}
