import type { PropertyFault } from "deneb/sdk";
import { sqlFaults } from "deneb/sql";
import type { RdbConfig, rdbConfig } from "./config.js";
import { mysqlDatabase } from "./mysql/database.js";
import { postgresqlDatabase } from "./postgresql/database.js";
import type { DatabaseKind } from "./server.js";
import { sqliteDatabase } from "./sqlite/database.js";

/** The kinds of database by `rdb_dialect`. */
export const databases = {
  postgresql: postgresqlDatabase,
  mysql: mysqlDatabase,
  sqlite: sqliteDatabase,
} as const satisfies Record<RdbConfig["rdb_dialect"], DatabaseKind>;

/** The faults that the formats cannot detect. */
export function rdbFaults(config: RdbConfig): readonly PropertyFault<typeof rdbConfig>[] {
  return [
    ...sqlFaults(config, databases[config.rdb_dialect].dialect),
    ...(config.enable_grouping
      ? [
          {
            property: "enable_grouping",
            reason:
              "grouping rules are not supported; use false, and name mappings in their place (docs/compatibility.md#grouping-rules)",
          } as const,
        ]
      : []),
    ...(config.attr_geometry && config.rdb_dialect !== "postgresql"
      ? [
          {
            property: "attr_geometry",
            reason: `needs PostgreSQL with PostGIS, and rdb_dialect is ${config.rdb_dialect}; use false, or rdb_dialect = postgresql`,
          } as const,
        ]
      : []),
    ...(/^\[.*\]$/.test(config.rdb_host)
      ? [{ property: "rdb_host", reason: "must be without brackets, as ::1; the port is rdb_port" } as const]
      : []),
    ...databases[config.rdb_dialect]
      .options(config.rdb_options)
      .faults.map((reason) => ({ property: "rdb_options", reason }) as const),
  ];
}

/** The certificate with which the sink connects, where rdb_options names one. */
export function rdbCertificates({ rdb_dialect, rdb_options }: RdbConfig): readonly string[] {
  const { sslCert } = databases[rdb_dialect].options(rdb_options);
  return sslCert === undefined ? [] : [sslCert];
}
