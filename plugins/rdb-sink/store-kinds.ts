import type { RdbConfig } from "./config.js";
import { mysqlStore } from "./mysql-store.js";
import { postgresqlStore } from "./postgresql-store.js";
import { sqliteStore } from "./sqlite-store.js";
import type { StoreKind } from "./store-kind.js";

/** The kinds of database by `rdb_dialect`. */
export const storeKinds = {
  postgresql: postgresqlStore,
  mysql: mysqlStore,
  sqlite: sqliteStore,
} as const satisfies Record<RdbConfig["rdb_dialect"], StoreKind>;
