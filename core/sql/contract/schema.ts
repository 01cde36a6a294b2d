import type { ConfigOf, Schema } from "../../sdk/index.js";

/** The properties of every SQL sink: spread them into the schema of your plugin. */
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
  enable_name_mappings: {
    doc: "true: the names that a name-mappings interceptor gave are used instead of the original ones.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

/** The values of {@link sqlSchema} and of two properties that only some dialects have. */
export interface SqlConfig extends ConfigOf<typeof sqlSchema> {
  /** Whether names are folded to lower case in a database with case-sensitive names. */
  readonly enable_lowercase?: boolean;
  /** The format by which the database parses a time that is text; empty for ISO 8601. */
  readonly last_data_sql_timestamp_format?: string;
}
