import type { RdbConfig } from "./config.js";
import type { StoreKind } from "./database.js";
import { mysqlStore } from "./mysql/database.js";
import { postgresqlStore } from "./postgresql/database.js";
import { sqliteStore } from "./sqlite/database.js";

/** The kinds of database by `rdb_dialect`. */
export const storeKinds = {
  postgresql: postgresqlStore,
  mysql: mysqlStore,
  sqlite: sqliteStore,
} as const satisfies Record<RdbConfig["rdb_dialect"], StoreKind>;
