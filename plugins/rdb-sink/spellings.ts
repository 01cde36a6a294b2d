import type { Spelling } from "deneb/sdk";

const packageName = "com.telefonica.iot.cygnus.sinks";

/** How files and container images of the original spell this sink: one class for each kind of database. */
export const rdbSpellings: readonly Spelling[] = [
  {
    types: [`${packageName}.NGSIPostgreSQLSink`],
    means: { rdb_dialect: "postgresql" },
    implies: { attr_persistence: "row" },
    prefixes: { postgresql_: "rdb_" },
    ...variablesOf("CYGNUS_POSTGRESQL"),
  },
  {
    types: [`${packageName}.NGSIMySQLSink`],
    means: { rdb_dialect: "mysql" },
    implies: { attr_persistence: "row", rdb_port: "3306", rdb_username: "root" },
    prefixes: { mysql_: "rdb_" },
    ...variablesOf("CYGNUS_MYSQL"),
  },
];

/** Other names of the type. */
export const rdbAliases: readonly string[] = rdbSpellings.flatMap(({ types }) => types);

function variablesOf(prefix: string) {
  return {
    variables: {
      [`${prefix}_HOST`]: "rdb_host",
      [`${prefix}_PORT`]: "rdb_port",
      [`${prefix}_DATABASE`]: "rdb_database",
      [`${prefix}_USER`]: "rdb_username",
      [`${prefix}_PASS`]: "rdb_password",
      [`${prefix}_OPTIONS`]: "rdb_options",
      [`${prefix}_DATA_MODEL`]: "data_model",
      [`${prefix}_ATTR_PERSISTENCE`]: "attr_persistence",
      [`${prefix}_ATTR_NATIVE_TYPES`]: "attr_native_types",
      [`${prefix}_ENABLE_ENCODING`]: "enable_encoding",
      [`${prefix}_ENABLE_LOWERCASE`]: "enable_lowercase",
      [`${prefix}_ENABLE_GROUPING`]: "enable_grouping",
      [`${prefix}_ENABLE_NAME_MAPPINGS`]: "enable_name_mappings",
      [`${prefix}_ENABLE_CACHE`]: "backend.enable_cache",
      [`${prefix}_BATCH_SIZE`]: "batch_size",
      [`${prefix}_BATCH_TIMEOUT`]: "batch_timeout",
      [`${prefix}_BATCH_TTL`]: "batch_ttl",
    },
    fileVariables: {
      [`${prefix}_USER_FILE`]: "rdb_username",
      [`${prefix}_PASS_FILE`]: "rdb_password",
    },
  };
}
