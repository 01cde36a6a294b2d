import type { PropertyFault } from "deneb/sdk";
import { sqlFaults } from "deneb/sql";
import type { RdbConfig, rdbConfig } from "./config.js";
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

/** The faults a format cannot judge. */
export function rdbFaults(config: RdbConfig): readonly PropertyFault<typeof rdbConfig>[] {
  return [
    ...sqlFaults(config, { database: config.rdb_dialect }),
    ...(config.enable_grouping
      ? [{ property: "enable_grouping", reason: "grouping rules do not exist any more; use false" } as const]
      : []),
    ...storeKinds[config.rdb_dialect]
      .options(config.rdb_options)
      .faults.map((reason) => ({ property: "rdb_options", reason }) as const),
  ];
}
