import type { ConfigOf, Schema } from "deneb/sdk";

export const rdbConfig = {
  rdb_dialect: {
    doc: "The database: a PostgreSQL server, a MySQL or MariaDB server, or SQLite files that need no server.",
    format: ["postgresql", "mysql", "sqlite"],
    default: "postgresql",
  },
  rdb_host: { doc: "Host of the database server.", format: "text", default: "localhost", env: "AGENT_RDB_HOST" },
  rdb_port: {
    doc: "Port of the database server. 0 means the usual one: 5432 for PostgreSQL, 3306 for MySQL.",
    format: "port",
    default: 0,
    env: "AGENT_RDB_PORT",
  },
  rdb_database: {
    doc: "PostgreSQL database in which the schemas are made; it must exist. Data models with -database make their own databases beside it. MySQL does without: there each schema is a database.",
    format: "text",
    default: "postgres",
    env: "AGENT_RDB_DATABASE",
  },
  rdb_username: {
    doc: "User of the database server. It needs the right to create schemas, in MySQL databases. Empty means postgres, for MySQL root.",
    format: "text",
    default: "",
    env: "AGENT_RDB_USER",
    envFile: "AGENT_RDB_USER_FILE",
  },
  rdb_password: {
    doc: "Password of the user.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_RDB_PASS",
    envFile: "AGENT_RDB_PASS_FILE",
  },
  rdb_options: {
    doc:
      "Connection options joined by & or blanks, in the spelling of libpq or JDBC. PostgreSQL: sslmode (disable, allow, prefer, " +
      "require, verify-ca, verify-full), connect_timeout and socketTimeout in seconds, application_name, currentSchema. MySQL: " +
      "sslMode (DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY) or useSSL, requireSSL, verifyServerCertificate, " +
      "connectTimeout and socketTimeout in milliseconds. Both: sslrootcert, sslcert, sslkey. Empty: TLS where the server has it.",
    format: "text",
    default: "",
    env: "AGENT_RDB_OPTIONS",
  },
  rdb_maxPoolSize: {
    doc: "Most connections open at once, for each database of a server.",
    format: "count",
    default: 3,
    min: 1,
  },
  rdb_maxPoolIdle: { doc: "Most connections kept open while idle.", format: "count", default: 2 },
  rdb_minPoolIdle: {
    doc: "Idle connections that are kept open however long they are idle.",
    format: "count",
    default: 0,
  },
  rdb_minPoolIdleTimeMillis: {
    doc: "Milliseconds after which an idle connection is closed; 0 keeps it open.",
    format: "millis",
    default: 10_000,
  },
  rdb_connect_timeout: {
    doc: "Milliseconds to wait for a connection; connect_timeout or connectTimeout in rdb_options comes first.",
    format: "millis",
    default: 10_000,
    min: 1,
  },
  rdb_statement_timeout: {
    doc: "Milliseconds one statement (PostgreSQL) or transaction (MySQL) may take; socketTimeout in rdb_options comes first. 0 waits for ever.",
    format: "millis",
    default: 60_000,
  },
  rdb_folder: {
    doc: "Folder of the SQLite files, one file for each schema. Empty means the data directory of the agent.",
    format: "text",
    default: "",
  },
  data_model: {
    doc:
      "What gets a table of its own, and where: dm-by-entity, dm-by-entity-type, dm-by-service-path, dm-by-attribute, " +
      "dm-by-fixed-entity-type, and the -database and -database-schema models.",
    format: "text",
    default: "dm-by-entity",
    env: "AGENT_RDB_DATA_MODEL",
  },
  attr_persistence: {
    doc: "column: one row for each entity, with a column for each attribute. row: one row for each attribute.",
    format: ["column", "row"],
    default: "column",
  },
  attr_native_types: {
    doc:
      "true: columns that the sink makes in the column layout have the types of their values (numbers, booleans, times, JSON), " +
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
    doc: "What follows the name of a table in that of its table of last data.",
    format: "text",
    default: "_last_data",
  },
  last_data_unique_key: {
    doc: "Columns or attributes that tell the rows of last data apart. A table that the sink makes gets them as its key.",
    format: "words",
    default: ["entityId"],
  },
  last_data_timestamp_key: {
    doc: "Column or attribute with the time by which a row of last data is newer than another.",
    format: "text",
    default: "recvTime",
  },
  last_data_sql_timestamp_format: {
    doc:
      "How the database reads that time where it is text: a format of to_timestamp (PostgreSQL) or STR_TO_DATE (MySQL). Empty " +
      "reads ISO 8601, in MySQL in UTC. SQLite always does.",
    format: "text",
    default: "",
  },
  "persistence_policy.max_records": {
    doc: "Most rows of a table of history; the oldest are deleted after each write. -1 keeps all.",
    format: "integer",
    default: -1,
    min: -1,
  },
  "persistence_policy.expiration_time": {
    doc: "Seconds after which rows are deleted from tables of history, also from those written by earlier runs. -1 keeps them.",
    format: "integer",
    default: -1,
    min: -1,
  },
  "persistence_policy.checking_time": {
    doc: "Seconds between two looks for rows to delete.",
    format: "seconds",
    default: 3600,
    min: 1,
    max: 2_000_000,
  },
  exactly_once: {
    doc: "true: behind a durable channel, how far it is stored is kept in the database in the transaction of the rows, so that a crash makes no second row. false: no table for that.",
    format: "flag",
    default: true,
  },
  persist_errors: {
    doc:
      "true: each event that the database refuses for good is also told in the table <database>_error_log of its schema (MySQL, " +
      "SQLite: <schema>_error_log), with the error, the SQL and its values. Dead letters are kept either way.",
    format: "flag",
    default: false,
  },
  max_latest_errors: {
    doc: "Most rows of each of these tables; the oldest are deleted.",
    format: "count",
    default: 100,
    min: 1,
  },
  enable_encoding: {
    doc: "true: in names of schemas and tables odd characters become x and four hex digits; false: they become _.",
    format: "flag",
    default: false,
  },
  enable_lowercase: {
    doc: "true: names in MySQL are lower case. In PostgreSQL and SQLite they are lower case either way.",
    format: "flag",
    default: false,
  },
  enable_grouping: { doc: "Accepted for existing files: only false.", format: "flag", default: false },
  enable_name_mappings: {
    doc: "true: the names that a name-mappings interceptor gave are used instead of the original ones.",
    format: "flag",
    default: false,
  },
  "backend.enable_cache": {
    doc: "Accepted for existing files: what exists is always remembered, and looked up again when the database says it is gone.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

export type RdbConfig = ConfigOf<typeof rdbConfig>;
