import { AgentError, type Context, type PropertyFault, type QueryResult } from "deneb/sdk";
import { type Dialect, databaseErrorOf, type ServerAddress, sqlFaults, storeError } from "deneb/sql";
import { hasGeometries, type RdbConfig, type rdbConfig } from "./config.js";
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

/** Runs the query of a person. */
export async function queryDatabase(config: RdbConfig, text: string, context: Context): Promise<QueryResult> {
  const database: DatabaseKind = databases[config.rdb_dialect];
  try {
    return await database.query(config, text, context);
  } catch (error) {
    throw queryError(error, text, { dialect: database.dialect, server: database.server(config, context) });
  }
}

/** What PostgreSQL, MySQL and SQLite say of a statement that would change something where only reading is allowed. */
const READ_ONLY =
  /^(?:25006|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|SQLITE_READONLY\w*) |attempt to write a readonly database/;

/** The error of a query of a person: one of its own when it was no query. */
function queryError(
  error: unknown,
  text: string,
  { dialect, server }: { readonly dialect: Pick<Dialect, "errors">; readonly server: ServerAddress },
): unknown {
  const { code = "", message } = databaseErrorOf(error);
  if (!READ_ONLY.test(`${code} ${message}`)) return storeError(error, dialect.errors, server);
  const reason = "it changes data, and only queries are allowed";
  return new AgentError("NOT_A_QUERY", `running "${text}": ${reason}`, { cause: error, retryable: false });
}

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
    ...(hasGeometries(config) && config.attr_geometry_x === "latitude"
      ? [{ property: "attr_geometry_x", reason: MIRRORED, severity: "warning" } as const]
      : []),
    ...hostFaults(config),
    ...optionFaults(config),
  ];
}

const MIRRORED =
  "geo:point, geo:line, geo:box and geo:polygon are stored with x = latitude, as the predecessor did; maps expect x = longitude";

function optionFaults({ rdb_dialect, rdb_options }: RdbConfig): readonly PropertyFault<typeof rdbConfig>[] {
  const { options, optionNames } = databases[rdb_dialect];
  const { faults, unknown } = options(rdb_options);
  const known = [...optionNames].join(", ");
  return [
    ...faults.map((reason) => ({ property: "rdb_options", reason }) as const),
    ...unknown.map((name) => {
      const reason = `"${name}" is not known and has no effect; known are ${known}`;
      return { property: "rdb_options", reason, severity: "warning" } as const;
    }),
  ];
}

/** What is no host name, no address and no folder of a socket: it would be looked up, in vain, at each connection. */
function hostFaults({ rdb_host, rdb_dialect }: RdbConfig): readonly PropertyFault<typeof rdbConfig>[] {
  if (rdb_dialect === "sqlite") return [];
  if (/^\[.*\]$/.test(rdb_host))
    return [{ property: "rdb_host", reason: "must be without brackets, as ::1; the port is rdb_port" }];
  if (!/[\s,;"']|:\/\/|^[^:]*:\d+$/.test(rdb_host)) return [];
  const reason =
    "must be the name or address of one host, and nothing else; the port is rdb_port, the database rdb_database";
  return [{ property: "rdb_host", reason }];
}

/** The certificate with which the sink connects, where rdb_options names one. */
export function rdbCertificates({ rdb_dialect, rdb_options }: RdbConfig): readonly string[] {
  const { sslCert } = databases[rdb_dialect].options(rdb_options);
  return sslCert === undefined ? [] : [sslCert];
}
