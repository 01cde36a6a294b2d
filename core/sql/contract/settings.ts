import { dataModels, parseDataModel, refusedModel } from "../../ngsi/index.js";
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
