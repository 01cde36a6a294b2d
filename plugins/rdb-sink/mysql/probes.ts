import { X509Certificate } from "node:crypto";
import type { Context, Examiner, Probe, ProbeResult } from "deneb/sdk";
import { type ServerAddress, storeError } from "deneb/sql";
import type { Connection, RowDataPacket } from "mysql2/promise";
import type { RdbConfig } from "../config.js";
import type { ServerSettings } from "../server.js";
import { tlsResult } from "../tls-result.js";
import { withConnection } from "./connection.js";
import { mysqlErrors } from "./errors.js";
import { type Grants, missingFor, readGrants, revokedFrom } from "./grants.js";
import { serverFacts, WITHOUT_CASE } from "./server-facts.js";

interface ProbeParts {
  readonly config: RdbConfig;
  readonly context: Pick<Context, "agent" | "name">;
  readonly settings: ServerSettings;
  readonly server: ServerAddress;
  readonly examiner: Examiner;
  /** What is tried when the user can log in. */
  readonly next: readonly Probe[];
}

type Ask = (connection: Connection, parts: ProbeParts) => Promise<ProbeResult>;

/**
 * Whether the server can be reached by this user, is encrypted as asked, and lets the user do what the sink does. A definition
 * cannot be rolled back here, so the rights are read.
 */
export function mysqlProbes(parts: ProbeParts): readonly Probe[] {
  const { server, next } = parts;
  const probe = (tries: string, ask: Ask): Probe => ({ tries, run: (signal) => asked(ask, parts, signal) });
  return [
    {
      ...probe(`log in to ${server.address} as "${server.username}"`, loggedIn),
      next: [
        probe("encrypt the connection", encryption),
        probe("see that rows are on disk when they are confirmed", onDisk),
        probe("see how the server keeps names of tables", names),
        probe("see that tables may be made without a primary key", keys),
        probe("see the rights to create databases and tables, and to write, change and delete rows", rights),
        ...next,
      ],
    },
  ];
}

async function asked(ask: Ask, parts: ProbeParts, signal: AbortSignal): Promise<ProbeResult> {
  try {
    return await withConnection(parts.settings, (connection) => ask(connection, parts), signal);
  } catch (error) {
    throw storeError(error, mysqlErrors, parts.server);
  }
}

const loggedIn: Ask = async (connection, { config }) => {
  const [rows] = await connection.query<RowDataPacket[]>(
    "SELECT VERSION() AS version, @@global.read_only AS readOnly, @@max_connections AS most",
  );
  const row = rows[0];
  const version = String(row?.["version"]);
  const readOnly: unknown = row?.["readOnly"];
  const reason = `${/mariadb/i.test(version) ? "MariaDB" : "MySQL"} ${version}`;
  if (readOnly === 1 || readOnly === "ON")
    return {
      outcome: "failed",
      reason: `${reason}, which takes no writes (read_only)`,
      remedy: "point rdb_host to the primary",
    };
  const [status] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Threads_connected'");
  const free = Number(row?.["most"]) - Number(status[0]?.["Value"]);
  if (Number.isNaN(free) || free >= config.rdb_maxPoolSize) return { outcome: "ok", reason };
  const found = `${reason}, ${Math.max(0, free)} connections are free and the sink uses up to ${config.rdb_maxPoolSize}`;
  return { outcome: "warning", reason: found, remedy: "raise max_connections or lower rdb_maxPoolSize" };
};

// By the documentation of both servers: 1 waits for the disk, and so does 3 of MariaDB.
const WAITING: ReadonlySet<unknown> = new Set(["1", "3"]);

const onDisk: Ask = async (connection) => {
  const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL VARIABLES LIKE 'innodb_flush_log_at_trx_commit'");
  const value: unknown = rows[0]?.["Value"];
  if (value === undefined || WAITING.has(value)) return { outcome: "ok" };
  return {
    outcome: "warning",
    reason: `innodb_flush_log_at_trx_commit is ${String(value)}: when the server crashes, it loses rows that the agent has stored and no longer keeps`,
    remedy: "set innodb_flush_log_at_trx_commit = 1",
  };
};

const encryption: Ask = async (connection, { settings, examiner }) => {
  const [rows] = await connection.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Ssl_version'");
  const version = String(rows[0]?.["Value"] ?? "");
  return tlsResult({
    mode: settings.options.sslMode,
    host: settings.host,
    protocol: version === "" ? undefined : version,
    certificate: certificateOf(connection),
    examiner,
  });
};

/** The client keeps its socket to itself; without it only the protocol is known. */
function certificateOf(connection: Connection): X509Certificate | undefined {
  const inner: unknown = Reflect.get(connection, "connection");
  const stream: unknown = typeof inner === "object" && inner !== null ? Reflect.get(inner, "stream") : undefined;
  const get: unknown =
    typeof stream === "object" && stream !== null ? Reflect.get(stream, "getPeerX509Certificate") : undefined;
  const certificate: unknown = typeof get === "function" ? Reflect.apply(get, stream, []) : undefined;
  return certificate instanceof X509Certificate ? certificate : undefined;
}

const names: Ask = async (connection, { config }) => {
  const { keptNames } = await serverFacts(connection);
  if (keptNames !== WITHOUT_CASE || config.enable_lowercase === true) return { outcome: "ok" };
  return {
    outcome: "warning",
    reason: `lower_case_table_names is ${keptNames}: names that differ in letter case only are one there, and two for the sink`,
    remedy: "set enable_lowercase = true",
  };
};

/** All are variables of MySQL alone, the last one of a member of a group. */
const OF_KEYS = "'sql_require_primary_key', 'sql_generate_invisible_primary_key', 'group_replication_group_name'";

const keys: Ask = async (connection, { config }) => {
  const [rows] = await connection.query<RowDataPacket[]>(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${OF_KEYS})`);
  const values = new Map(rows.map((row) => [row["Variable_name"], row["Value"]] as const));
  const isOn = (name: string) => values.get(name) === "ON";
  const replicates = (values.get("group_replication_group_name") ?? "") !== "";
  return tablesWithoutKey({
    requiredBy: isOn("sql_require_primary_key")
      ? "sql_require_primary_key"
      : replicates
        ? "Group Replication"
        : undefined,
    generated: isOn("sql_generate_invisible_primary_key"),
    partitioned: config.partition !== "none",
  });
};

const rights: Ask = async (connection, { config, server }) => {
  const [rows] = await connection.query<RowDataPacket[]>("SHOW GRANTS");
  const grants = readGrants(rows.map((row) => String(Object.values(row)[0])));
  const wanted = wantedBy(config);
  const missing = missingFor(undefined, wanted, grants);
  if (missing.length === 0) return revokedIn(wanted, grants);
  const remedy = `an administrator can run GRANT ${missing.join(", ")} ON *.* TO the user, or on the databases of the services`;
  const usable = usableDatabases(wanted, grants);
  const lacking = `${missing.join(", ")} on all databases ${missing.length === 1 ? "is" : "are"} not granted to "${server.username}"`;
  if (grants.roles.length > 0 && usable.length === 0) {
    const reason = `${lacking}, and roles may give it: ${grants.roles.join(", ")}`;
    return { outcome: "warning", reason, remedy: `${remedy}, or make the roles default ones (SET DEFAULT ROLE)` };
  }
  if (usable.length === 0) return { outcome: "failed", reason: lacking, remedy };
  return {
    outcome: "warning",
    reason: `${lacking}; only databases with these names can be used: ${usable.slice(0, MOST_NAMED).join(", ")}`,
    remedy,
  };
};

const MOST_NAMED = 5;

/** Where rights to all databases do not count. */
function revokedIn(wanted: readonly string[], grants: Grants): ProbeResult {
  const [first, ...others] = revokedFrom(wanted, grants);
  if (first === undefined) return { outcome: "ok" };
  const { database } = first;
  const missing = first.missing.join(", ");
  const more = others.length === 0 ? "" : `, and rights in ${others.length} more databases`;
  return {
    outcome: "warning",
    reason: `${missing} in database "${database}" was revoked${more} (partial_revokes)`,
    remedy: `if services are stored there, an administrator can run GRANT ${missing} ON \`${database}\`.* TO the user`,
  };
}

/** The names and patterns of databases in which everything is allowed. */
function usableDatabases(wanted: readonly string[], grants: Grants): readonly string[] {
  const names = new Set(grants.databases.map(({ database }) => database).filter((name) => name !== "*"));
  return [...names].filter((pattern) => missingFor(pattern.replaceAll("\\", ""), wanted, grants).length === 0);
}

function wantedBy({ views, indexes, partition, retention_days }: RdbConfig): readonly string[] {
  return [
    ...["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER"],
    ...(indexes ? ["INDEX"] : []),
    ...(partition !== "none" && retention_days >= 0 ? ["DROP"] : []),
    ...(views ? ["CREATE VIEW", "DROP"] : []),
  ];
}

interface KeysOfServer {
  readonly requiredBy: "sql_require_primary_key" | "Group Replication" | undefined;
  /** `sql_generate_invisible_primary_key` */
  readonly generated: boolean;
  readonly partitioned: boolean;
}

/** Whether the server takes tables of history, which have no primary key. It adds one only to tables without partitions. */
export function tablesWithoutKey({ requiredBy, generated, partitioned }: KeysOfServer): ProbeResult {
  if (generated && partitioned)
    return {
      outcome: "failed",
      reason: "sql_generate_invisible_primary_key is ON: the server cannot add that key to a table with partitions",
      remedy: `set partition = none${requiredBy === undefined ? ", or switch that variable off there" : ""}`,
    };
  if (requiredBy === undefined || generated) return { outcome: "ok" };
  return {
    outcome: "failed",
    reason: `tables of history have no primary key, and ${requiredBy} asks for one`,
    remedy: `set sql_generate_invisible_primary_key = ON there${partitioned ? " and partition = none" : ""}`,
  };
}
