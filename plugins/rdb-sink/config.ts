import { parseDataModel } from "deneb/ngsi";
import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";
import { postgresqlOptions } from "./drivers/postgresql-options.js";

export const rdbConfig = {
  rdb_dialect: {
    doc: "The database: a PostgreSQL server, or SQLite files that need no server.",
    format: ["postgresql", "sqlite"],
    default: "postgresql",
  },
  rdb_host: { doc: "Host of the PostgreSQL server.", format: "text", default: "localhost", env: "AGENT_RDB_HOST" },
  rdb_port: { doc: "Port of the PostgreSQL server.", format: "port", default: 5432, min: 1, env: "AGENT_RDB_PORT" },
  rdb_database: {
    doc: "PostgreSQL database in which the schemas are made. The database itself must exist.",
    format: "text",
    default: "postgres",
    env: "AGENT_RDB_DATABASE",
  },
  rdb_username: {
    doc: "PostgreSQL user. It needs the right to create schemas in the database.",
    format: "text",
    default: "postgres",
    env: "AGENT_RDB_USER",
    envFile: "AGENT_RDB_USER_FILE",
  },
  rdb_password: {
    doc: "Password of the PostgreSQL user.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_RDB_PASS",
    envFile: "AGENT_RDB_PASS_FILE",
  },
  rdb_options: {
    doc:
      "Connection options joined by & or blanks, with the meaning of libpq: sslmode (disable, allow, prefer, require, verify-ca, " +
      "verify-full), sslrootcert, sslcert, sslkey, connect_timeout in seconds, application_name. Empty means sslmode=prefer.",
    format: "text",
    default: "",
    env: "AGENT_RDB_OPTIONS",
  },
  rdb_maxPoolSize: { doc: "Most connections open at once.", format: "count", default: 3, min: 1 },
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
    doc: "Milliseconds to wait for a connection; connect_timeout in rdb_options comes first.",
    format: "millis",
    default: 10_000,
    min: 1,
  },
  rdb_statement_timeout: {
    doc: "Milliseconds one statement may take in PostgreSQL; 0 waits for ever.",
    format: "millis",
    default: 60_000,
  },
  rdb_folder: {
    doc: "Folder of the SQLite files, one file for each schema. Empty means the data directory of the agent.",
    format: "text",
    default: "",
  },
  data_model: {
    doc: "What gets a table of its own: each entity (dm-by-entity) or each entity type (dm-by-entity-type).",
    format: "text",
    default: "dm-by-entity",
    env: "AGENT_RDB_DATA_MODEL",
  },
  attr_persistence: {
    doc: "column: one row for each entity, with a column for each attribute. row is not supported by this version.",
    format: ["column", "row"],
    default: "column",
  },
  attr_native_types: {
    doc: "true: the null of a simplified attribute is stored as SQL NULL, not as the text null. Columns are text either way.",
    format: "flag",
    default: false,
  },
  enable_encoding: {
    doc: "true: in names of schemas and tables odd characters become x and four hex digits; false: they become _.",
    format: "flag",
    default: false,
  },
  enable_lowercase: {
    doc: "Accepted for existing files: names of schemas, tables and columns are lower case either way.",
    format: "flag",
    default: false,
  },
  enable_grouping: { doc: "Accepted for existing files: only false.", format: "flag", default: false },
  enable_name_mappings: {
    doc: "Name mappings; not supported by this version, only false.",
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

/** The faults a format cannot judge. */
export function rdbFaults(config: RdbConfig): readonly PropertyFault<typeof rdbConfig>[] {
  const { faults } = postgresqlOptions(config.rdb_options);
  return [
    ...(storedModel(config.data_model) === undefined ? [unsupportedModel(config.data_model)] : []),
    ...(config.attr_persistence === "row"
      ? [{ property: "attr_persistence", reason: "row is not supported by this version yet; use column" } as const]
      : []),
    ...(config.enable_grouping
      ? [{ property: "enable_grouping", reason: "grouping rules do not exist for NGSI-LD; use false" } as const]
      : []),
    ...(config.enable_name_mappings
      ? [
          {
            property: "enable_name_mappings",
            reason: "name mappings are not supported by this version yet; use false",
          } as const,
        ]
      : []),
    ...faults.map((reason) => ({ property: "rdb_options", reason }) as const),
  ];
}

/** The data model in any spelling; undefined for one that this sink does not store. */
export function storedModel(text: string): "dm-by-entity" | "dm-by-entity-type" | undefined {
  const model = parseDataModel(text);
  return model === "dm-by-entity" || model === "dm-by-entity-type" ? model : undefined;
}

function unsupportedModel(text: string): PropertyFault<typeof rdbConfig> {
  return { property: "data_model", reason: `"${text}" is not supported; use dm-by-entity or dm-by-entity-type` };
}
