import type { Attribute, Entity, Member } from "../../../core/ngsi/index.js";
import type { Event } from "../../../core/sdk/index.js";
import type { Store } from "../../../core/sql/contract/driver.js";
import { SqlSink } from "../../../core/sql/sql-sink.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import type { TestServer } from "../../support/mysql.js";
import { type LogLine, recordingLog } from "../../support/recording-log.js";

export const never: AbortSignal = new AbortController().signal;

export const receivedAt = "2020-05-13T14:46:21.918Z";

/** Where a sink finds a MySQL of the tests. */
export function onMysql({ host, port, user, password }: Pick<TestServer, "host" | "port" | "user" | "password">) {
  return { rdb_dialect: "mysql", rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password } as const;
}

export function onPostgresql(server: Pick<TestServer, "host" | "port" | "user" | "password">, database: string) {
  const { host, port, user, password } = server;
  return { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
}

const defaults: RdbConfig = {
  rdb_dialect: "postgresql",
  rdb_host: "127.0.0.1",
  rdb_port: 5432,
  rdb_database: "postgres",
  rdb_bookkeeping_database: "",
  rdb_username: "postgres",
  rdb_password: "",
  rdb_options: "",
  rdb_maxPoolSize: 3,
  rdb_maxPoolIdle: 2,
  rdb_minPoolIdle: 0,
  rdb_minPoolIdleTimeMillis: 10_000,
  rdb_connect_timeout: 5000,
  rdb_statement_timeout: 60_000,
  rdb_folder: "",
  data_model: "dm-by-entity",
  attr_persistence: "column",
  attr_native_types: false,
  attr_metadata_store: true,
  attr_short_names: false,
  notification_columns: [],
  attr_geometry: false,
  attr_geometry_x: "longitude",
  attr_geometry_index: false,
  attr_geometry_rows: true,
  last_data_mode: "insert",
  last_data_table_suffix: "_last_data",
  last_data_unique_key: ["entityId"],
  last_data_timestamp_key: "recvTime",
  last_data_sql_timestamp_format: "",
  "persistence_policy.max_records": -1,
  "persistence_policy.expiration_time": -1,
  "persistence_policy.checking_time": 3600,
  "persistence_policy.adopted_schemas": [],
  views: false,
  partition: "none",
  retention_days: -1,
  indexes: false,
  timescaledb: false,
  protected_schemas: [],
  allowed_services: [],
  exactly_once: true,
  persist_errors: false,
  max_latest_errors: 100,
  enable_encoding: false,
  encode_type_capitals: false,
  enable_lowercase: false,
  enable_grouping: false,
  enable_service_hash: false,
  enable_name_mappings: false,
  "backend.enable_cache": false,
};

export function configOf(config: Partial<RdbConfig>): RdbConfig {
  return { ...defaults, ...config };
}

export interface LoggingSink {
  readonly sink: SqlSink;
  readonly lines: readonly LogLine[];
}

/** A sink that is not started. */
/** What tells two sinks of one table apart: their names, their agents, or the runs of their agents. */
export interface SinkIdentity {
  readonly agent?: string;
  readonly name?: string;
  readonly run?: string;
}

export function sinkOf(
  config: Partial<RdbConfig>,
  now: () => Date = () => new Date(0),
  own?: Store,
  { name = "sink", run = "run", ...agent }: SinkIdentity = {},
): LoggingSink {
  const { log, lines } = recordingLog();
  const context = { name, ...agent, log, dataDir: "", run, now };
  const full = configOf(config);
  const store = own ?? databases[full.rdb_dialect].open(full, context);
  return { sink: new SqlSink(full, context, store), lines };
}

/** A normalized attribute with a text value. */
export function attribute(name: string, text: string, members: Readonly<Record<string, string>> = {}): Attribute {
  return {
    name,
    type: "Property",
    form: "normalized",
    value: { kind: "string", text },
    members: Object.entries(members).map(
      ([member, value]): Member => ({ name: member, value: { kind: "string", text: value } }),
    ),
  };
}

/** An entity with text attributes. */
export function entity(id: string, attributes: Readonly<Record<string, string>>): Entity {
  return { id, type: "T", attributes: Object.entries(attributes).map(([name, text]) => attribute(name, text)) };
}

export function eventOf(body: Entity, service: string): Event {
  return { headers: { "fiware-service": service, timestamp: String(Date.parse(receivedAt)) }, body };
}
