import type { ConfigOf, Schema } from "deneb/sdk";
import { sqlSchema } from "deneb/sql";

export const rdbConfig = {
  rdb_dialect: {
    doc: "The database: a PostgreSQL server, a MySQL or MariaDB server, or SQLite files that need no server.",
    format: ["postgresql", "mysql", "sqlite"],
    default: "postgresql",
  },
  rdb_host: { doc: "Host of the database server.", format: "text", default: "localhost", env: "AGENT_RDB_HOST" },
  rdb_port: {
    doc: "Port of the database server. 0: the default, 5432 for PostgreSQL, 3306 for MySQL.",
    format: "port",
    default: 0,
    env: "AGENT_RDB_PORT",
  },
  rdb_database: {
    doc: "PostgreSQL database in which the schemas are created; it must exist. Data models with -database create their own databases beside it. Unused for MySQL, where each schema is a database.",
    format: "text",
    default: "postgres",
    env: "AGENT_RDB_DATABASE",
  },
  rdb_bookkeeping_database: {
    doc:
      "MySQL: the database that keeps the positions of channels and which dead letters are stored. Empty means deneb; when the user " +
      "may not create it, a database that an earlier run used, else rdb_database unless that is postgres, else the database of the first rows.",
    format: "text",
    default: "",
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
      "Connection options separated by & or spaces, in the spelling of libpq or JDBC. PostgreSQL: sslmode (disable, allow, prefer, " +
      "require, verify-ca, verify-full), connect_timeout and socketTimeout in seconds, application_name, currentSchema. MySQL: " +
      "sslMode (DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY) or useSSL, requireSSL, verifyServerCertificate, " +
      "connectTimeout and socketTimeout in milliseconds. Both: sslrootcert, sslcert, sslkey. Empty: TLS if the server supports it.",
    format: "text",
    default: "",
    env: "AGENT_RDB_OPTIONS",
  },
  rdb_maxPoolSize: {
    doc: "Maximum number of open connections to each database of a server.",
    format: "count",
    default: 3,
    min: 1,
  },
  rdb_maxPoolIdle: { doc: "Maximum number of idle connections that are kept open.", format: "count", default: 2 },
  rdb_minPoolIdle: {
    doc: "Number of idle connections that are kept open however long they are idle.",
    format: "count",
    default: 0,
  },
  rdb_minPoolIdleTimeMillis: {
    doc: "Milliseconds after which an idle connection is closed; 0: never.",
    format: "millis",
    default: 10_000,
  },
  rdb_connect_timeout: {
    doc: "Milliseconds to wait for a connection; connect_timeout or connectTimeout in rdb_options takes precedence.",
    format: "millis",
    default: 10_000,
    min: 1,
  },
  rdb_statement_timeout: {
    doc: "Milliseconds one statement (PostgreSQL) or transaction (MySQL) may take; socketTimeout in rdb_options takes precedence. 0: no limit.",
    format: "millis",
    default: 60_000,
  },
  rdb_folder: {
    doc: "Folder of the SQLite files, one file for each schema. Empty means the data directory of the agent.",
    format: "text",
    default: "",
  },
  ...sqlSchema,
  data_model: { ...sqlSchema.data_model, env: "AGENT_RDB_DATA_MODEL" },
  attr_geometry: {
    doc:
      "PostgreSQL with PostGIS. true: new columns of geometries (GeoProperty, geo:point, geo:line, geo:box, geo:polygon, geo:json) are " +
      "geometry(Geometry, 4326), and a value that is no geometry becomes a dead letter. false: they are text.",
    format: "flag",
    default: false,
  },
  attr_geometry_x: {
    doc:
      "Which coordinate of geo:point, geo:line, geo:box and geo:polygon is x; they have the latitude first. latitude: the first number " +
      "is x, as in tables of the predecessor. GeoJSON is stored unchanged, with the longitude as x.",
    format: ["longitude", "latitude"],
    default: "longitude",
  },
  attr_geometry_index: {
    doc: "true: new columns of geometries get a GiST index.",
    format: "flag",
    default: false,
  },
  attr_geometry_rows: {
    doc: "true: with attr_geometry, the row layout has a column attrGeometry with the geometry beside attrValue. false: it has not.",
    format: "flag",
    default: true,
  },
  last_data_sql_timestamp_format: {
    doc:
      "How the database reads that time where it is text: a format of to_timestamp (PostgreSQL) or STR_TO_DATE (MySQL). Empty " +
      "reads ISO 8601, in MySQL in UTC. SQLite always does.",
    format: "text",
    default: "",
  },
  encode_type_capitals: {
    doc:
      "With enable_encoding in PostgreSQL and SQLite. true: capitals in tables of NGSI v2 by entity type are encoded, as by the PostGIS " +
      "sink of the predecessor. false: they are lower case there, as by its PostgreSQL sink. No effect on other names, or in MySQL.",
    format: "flag",
    default: false,
  },
  enable_lowercase: {
    doc: "true: names in MySQL are lower case. In PostgreSQL and SQLite they are lower case either way.",
    format: "flag",
    default: false,
  },
  enable_grouping: { doc: "Accepted for existing files: only false.", format: "flag", default: false },
  "backend.enable_cache": {
    doc: "Accepted for existing files: what exists is always remembered, and looked up again when the database says it is gone.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

export type RdbConfig = ConfigOf<typeof rdbConfig>;

type OfGeometries = Pick<RdbConfig, "attr_geometry" | "attr_geometry_rows" | "attr_persistence">;

/** Whether a table of the sink can have a column of geometries: rows of attributes have none without attr_geometry_rows. */
export function hasGeometries({ attr_geometry, attr_geometry_rows, attr_persistence }: OfGeometries): boolean {
  return attr_geometry && (attr_persistence === "column" || attr_geometry_rows);
}
