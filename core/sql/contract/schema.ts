import { createHash } from "node:crypto";
import { type Database, type DataModel, type GeometryX, type Naming, parseDataModel } from "../../ngsi/index.js";
import type { ConfigOf, Schema } from "../../sdk/index.js";
import { periods } from "./partitions.js";

/** The columns that `notification_columns` can name, in the order of a table. */
export const notificationColumns = ["notifiedAt", "subscriptionId", "sequence"] as const;

/** The properties of every SQL sink: spread them into the schema of your plugin. @beta */
export const sqlSchema = {
  data_model: {
    doc:
      "What has its own table, and where: dm-by-entity, dm-by-entity-type, dm-by-service-path, dm-by-attribute, " +
      "dm-by-fixed-entity-type, and the -database and -database-schema models.",
    format: "text",
    default: "dm-by-entity",
  },
  attr_persistence: {
    doc: "column: one row for each entity, with a column for each attribute. row: one row for each attribute.",
    format: ["column", "row"],
    default: "column",
  },
  attr_native_types: {
    doc:
      "true: columns that the sink creates in the column layout have the types of their values (numbers, booleans, times, JSON), " +
      "and the null of a simplified attribute is SQL NULL. false: columns are text.",
    format: "flag",
    default: false,
  },
  attr_metadata_store: {
    doc: "true: the metadata of attributes are stored, in attrMd (row) or a column attribute_md (column, NGSI v2). false: they are not.",
    format: "flag",
    default: true,
  },
  attr_short_names: {
    doc:
      "true: an attribute of NGSI-LD whose name is an IRI, or one of its members, is called by the last part of the IRI, unless " +
      "another one of the entity (or attribute) has that name. false: names are those of the notification.",
    format: "flag",
    default: false,
  },
  notification_columns: {
    doc:
      "Columns about the notification that each row gets: notifiedAt (NGSI-LD), subscriptionId, and sequence, a number that is " +
      "higher for each later event. Empty: none.",
    format: "words",
    default: [],
  },
  last_data_mode: {
    doc:
      "insert: rows are added to tables of history. upsert: each entity has one row with its last values, in a table beside it. " +
      "both: the two. With attr_persistence = row each attribute of an entity has one row there.",
    format: ["insert", "upsert", "both"],
    default: "insert",
  },
  last_data_table_suffix: {
    doc: "Suffix of the name of a table of last data.",
    format: "text",
    default: "_last_data",
  },
  last_data_unique_key: {
    doc: "Columns or attributes that identify a row of last data. They are the key of tables that the sink creates.",
    format: "words",
    default: ["entityId"],
  },
  last_data_timestamp_key: {
    doc: "Column or attribute with the time that determines which row of last data is newer.",
    format: "text",
    default: "recvTime",
  },
  "persistence_policy.max_records": {
    doc: "Maximum number of rows of a table of history; the oldest ones are deleted after each write. -1: no limit.",
    format: "integer",
    default: -1,
    min: -1,
  },
  "persistence_policy.expiration_time": {
    doc: "Seconds after which rows are deleted from tables of history, also from those of earlier runs. -1: never.",
    format: "integer",
    default: -1,
    min: -1,
  },
  "persistence_policy.checking_time": {
    doc: "Seconds between two checks for rows to delete.",
    format: "seconds",
    default: 3600,
    min: 1,
    max: 2_000_000,
  },
  "persistence_policy.adopted_schemas": {
    doc:
      "Schemas (MySQL: databases) whose tables of history are kept in these bounds too although no sink has listed them: those " +
      "of the original, or of versions before the list. Others are only after this sink has written to them.",
    format: "words",
    default: [],
  },
  views: {
    doc:
      "true: views with typed columns over the entities of each type, deneb_all_<type>, deneb_latest_<type> and deneb_tidy_<type>, are " +
      "kept in each schema. PostgreSQL and MySQL, not with data models by service path.",
    format: "flag",
    default: false,
  },
  partition: {
    doc:
      "The time that one partition of a new table of history covers, by the time of reception in UTC: day, week (from Monday), " +
      "month or year. none: plain tables. PostgreSQL and MySQL; existing tables change by `deneb tables partition` only.",
    format: ["none", ...periods],
    default: "none",
  },
  retention_days: {
    doc:
      "Days after which rows are deleted: from partitioned tables as whole partitions, from plain ones as by " +
      "persistence_policy.expiration_time. -1: never.",
    format: "integer",
    default: -1,
    min: -1,
    max: 100_000,
  },
  indexes: {
    doc: "true: new tables of history get an index on the time and, if they hold several entities, one on entity and time. false: none.",
    format: "flag",
    default: false,
  },
  timescaledb: {
    doc:
      "true: partitions are chunks of a hypertable of TimescaleDB, which must be installed in the PostgreSQL database; needs " +
      "attr_native_types = true. false: the partitions are those of the database.",
    format: "flag",
    default: false,
  },
  protected_schemas: {
    doc: "Schemas and databases that no event is stored in: such events become dead letters.",
    format: "words",
    default: [],
  },
  allowed_services: {
    doc: "Services that are stored; events of others become dead letters. Empty stores all.",
    format: "words",
    default: [],
  },
  exactly_once: {
    doc: "true: behind a durable channel, the position of the channel is stored in the transaction of the rows, so that a crash causes no second row. false: without positions.",
    format: "flag",
    default: true,
  },
  persist_errors: {
    doc:
      "true: each event that the database refuses permanently is also written to the table <database>_error_log of its schema (MySQL, " +
      "SQLite: <schema>_error_log), with the error, the SQL and its values. Dead letters are kept either way.",
    format: "flag",
    default: false,
  },
  max_latest_errors: {
    doc: "Maximum number of rows of each error table; the oldest ones are deleted.",
    format: "count",
    default: 100,
    min: 1,
  },
  enable_encoding: {
    doc: "true: in names of schemas and tables other characters become x and four hexadecimal digits; false: they become _.",
    format: "flag",
    default: false,
  },
  enable_service_hash: {
    doc:
      "true: the schema (or database) of a service whose name has to be changed for it, such as FARMX or a-b c, ends in _ and 8 digits of " +
      "the SHA-256 of the service, so that no two services share one. false: services such as farmx and FARMX do, and the log says so.",
    format: "flag",
    default: false,
  },
  enable_name_mappings: {
    doc: "true: schemas, tables and attributes have the names that a name-mappings interceptor gave. Ids, types and service paths in the rows stay the original ones.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

/** The values of {@link sqlSchema} and of properties that only some dialects have. @beta */
export interface SqlConfig extends ConfigOf<typeof sqlSchema> {
  /** Whether names are folded to lower case in a database with case-sensitive names. */
  readonly enable_lowercase?: boolean;
  /** Whether capitals in tables of NGSI v2 by entity type are encoded too where names are folded. */
  readonly encode_type_capitals?: boolean;
  /** The format by which the database parses a time that is text; empty for ISO 8601. */
  readonly last_data_sql_timestamp_format?: string;
  /** Whether new columns of geometries have the kind `geometry`. */
  readonly attr_geometry?: boolean;
  readonly attr_geometry_x?: GeometryX;
  readonly attr_geometry_index?: boolean;
  /** Whether the row layout has a column of geometries too. */
  readonly attr_geometry_rows?: boolean;
}

const SECONDS_OF_A_DAY = 86_400;

/** The age in seconds at which rows are deleted; negative for never. */
export function expirationSeconds(config: SqlConfig): number {
  const days = config.retention_days;
  return days < 0 ? config["persistence_policy.expiration_time"] : days * SECONDS_OF_A_DAY;
}

/** The data model by its name, which a file may spell in other ways. */
export function dataModelOf(config: Pick<SqlConfig, "data_model">): DataModel {
  return parseDataModel(config.data_model) ?? "dm-by-entity";
}

/** The naming rules that follow from the configuration and the database. */
export function namingOf(config: SqlConfig, database: Database): Naming {
  return {
    dataModel: dataModelOf(config),
    encoding: config.enable_encoding,
    database,
    lowercase: config.enable_lowercase ?? false,
    serviceHash: config.enable_service_hash,
    typeCapitals: config.encode_type_capitals ?? false,
  };
}

/** A hash of the settings that determine tables and rows: all properties except those of the connection. */
export function settingsHash(config: SqlConfig): string {
  const own = Object.entries(config).filter(
    ([name, value]) =>
      !name.startsWith("rdb_") &&
      !elsewhere.has(name) &&
      !(added.has(name) && isOff(value)) &&
      (config.attr_geometry || !isOfGeometry(name)) &&
      (config.enable_encoding || name !== "encode_type_capitals"),
  );
  const text = JSON.stringify(own.sort(([one], [other]) => (one < other ? -1 : 1)));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function isOfGeometry(name: string): boolean {
  return name.startsWith("attr_geometry");
}

/** These decide whether something is stored or deleted, not where. */
const elsewhere: ReadonlySet<string> = new Set([
  "views",
  "partition",
  "retention_days",
  "indexes",
  "timescaledb",
  "allowed_services",
  "protected_schemas",
  "persistence_policy.adopted_schemas",
]);

/** Properties of later versions: while they are off, the hash is that of earlier ones. */
const added: ReadonlySet<string> = new Set([
  "attr_short_names",
  "notification_columns",
  "enable_service_hash",
  "encode_type_capitals",
]);

function isOff(value: unknown): boolean {
  return value === false || (Array.isArray(value) && value.length === 0);
}
