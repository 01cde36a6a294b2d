import { dataModels, parseDataModel, refusedModel } from "deneb/ngsi";
import type { PropertyFault } from "deneb/sdk";
import type { RdbConfig, rdbConfig } from "./config.js";
import { storeKinds } from "./store-kinds.js";

/** The faults a format cannot judge. */
export function rdbFaults(config: RdbConfig): readonly PropertyFault<typeof rdbConfig>[] {
  const unfit = modelFault(config);
  return [
    ...(unfit === undefined ? [] : [{ property: "data_model", reason: unfit } as const]),
    ...(config.enable_grouping
      ? [{ property: "enable_grouping", reason: "grouping rules do not exist any more; use false" } as const]
      : []),
    ...(config.last_data_mode !== "insert" && config.last_data_table_suffix === ""
      ? [
          {
            property: "last_data_table_suffix",
            reason: "must not be empty: last data need a table of their own",
          } as const,
        ]
      : []),
    ...(config.last_data_mode !== "insert" && config.last_data_unique_key.length === 0
      ? [{ property: "last_data_unique_key", reason: "must name a column, for example entityId" } as const]
      : []),
    ...storeKinds[config.rdb_dialect]
      .options(config.rdb_options)
      .faults.map((reason) => ({ property: "rdb_options", reason }) as const),
  ];
}

function modelFault({ data_model, rdb_dialect }: RdbConfig): string | undefined {
  const model = parseDataModel(data_model);
  if (model === undefined) return `"${data_model}" is not one of ${dataModels.join(", ")}`;
  return refusedModel(model, rdb_dialect);
}
