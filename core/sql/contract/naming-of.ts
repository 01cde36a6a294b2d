import { type Database, type Naming, parseDataModel } from "../../ngsi/index.js";
import type { SqlConfig } from "./schema.js";

/** How names are made, by the configuration and the rules of the database. */
export function namingOf(config: SqlConfig, database: Database): Naming {
  return {
    dataModel: parseDataModel(config.data_model) ?? "dm-by-entity",
    encoding: config.enable_encoding,
    database,
    lowercase: config.enable_lowercase ?? false,
  };
}
