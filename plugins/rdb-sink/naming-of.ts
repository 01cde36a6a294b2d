import { type Naming, parseDataModel } from "deneb/ngsi";
import type { RdbConfig } from "./config.js";

/** How names are made, by the configuration. */
export function namingOf(config: RdbConfig): Naming {
  return {
    dataModel: parseDataModel(config.data_model) ?? "dm-by-entity",
    encoding: config.enable_encoding,
    database: config.rdb_dialect,
    lowercase: config.enable_lowercase,
  };
}
