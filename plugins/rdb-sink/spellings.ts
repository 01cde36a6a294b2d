import type { Spelling } from "deneb/sdk";
import { postgresqlOptions } from "./postgresql/database.js";

const packageName = "com.telefonica.iot.cygnus.sinks";

const rereads = {
  enable_grouping: (text) =>
    text === "true"
      ? {
          missing: true,
          reason:
            "grouping rules are not supported; without name mappings in their place entities keep their own tables",
        }
      : undefined,
} as const satisfies Spelling["rereads"];

const postgresqlRereads = {
  ...rereads,
  rdb_database: (text) => {
    const lower = text.toLowerCase();
    return lower === text ? undefined : { text: lower, reason: `is read as "${lower}", as the original read it` };
  },
  rdb_options: (text) =>
    ["require", "verify-ca", "verify-full"].includes(postgresqlOptions(text).sslMode)
      ? { reason: TLS_COUNTS }
      : undefined,
} as const satisfies Spelling["rereads"];

const TLS_COUNTS =
  "asks for TLS, and counts here; the NGSI-LD agent of the original ignored it and stored over plain TCP: if the server " +
  "has no TLS, write sslmode=prefer";

const postgis = {
  means: { rdb_dialect: "postgresql", attr_geometry: "true" },
  implies: { attr_geometry_x: "latitude", attr_geometry_rows: "false" },
  prefixes: { postgis_: "rdb_" },
  rereads: postgresqlRereads,
  ...variablesOf("CYGNUS_POSTGIS"),
  better: [
    "geometries get columns of PostGIS in NGSI v2 too, and geo:line, geo:box, geo:polygon and collections are stored",
    ...remarks().better,
  ],
  different: [
    "x of geo:point is still the first number, the latitude, as in the tables that exist; maps expect attr_geometry_x = longitude",
    "new columns are geometry(Geometry, 4326); NGSI-LD had geometry without a reference system, and its rows have SRID 0",
    "a value that is no geometry becomes a dead letter; there it was dropped, or stopped the sink",
    ...remarks().different,
  ],
} as const satisfies Omit<Spelling, "types">;

/** How files and container images of the predecessor spell this sink: one class for each kind of database. */
export const rdbSpellings: readonly Spelling[] = [
  {
    types: [`${packageName}.NGSIPostgreSQLSink`],
    means: { rdb_dialect: "postgresql" },
    implies: { attr_persistence: "row" },
    prefixes: { postgresql_: "rdb_" },
    rereads: postgresqlRereads,
    ...variablesOf("CYGNUS_POSTGRESQL"),
    ...remarks(),
  },
  {
    // The name in the documentation of its NGSI-LD agent, which stores columns only.
    types: [`${packageName}.NGSILDPostgreSQLSink`],
    means: { rdb_dialect: "postgresql" },
    prefixes: { postgresql_: "rdb_" },
    rereads: postgresqlRereads,
    ...variablesOf("CYGNUS_POSTGRESQL"),
    ...remarks(),
  },
  {
    types: [`${packageName}.NGSIPostgisSink`],
    ...postgis,
    implies: { ...postgis.implies, attr_persistence: "row", encode_type_capitals: "true" },
  },
  { types: [`${packageName}.NGSILDPostgisSink`], ...postgis },
  {
    types: [`${packageName}.NGSIMySQLSink`],
    means: { rdb_dialect: "mysql" },
    implies: { attr_persistence: "row", rdb_port: "3306", rdb_username: "root" },
    prefixes: { mysql_: "rdb_" },
    rereads,
    ...variablesOf("CYGNUS_MYSQL"),
    ...remarks(),
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

function remarks() {
  return {
    better: [
      "tables and columns are made when they are first needed, also in column mode; a new attribute is a new column",
      "every text is stored as it came: values are parameters and names are quoted, so apostrophes and odd names do no harm",
      "an absent attribute is SQL NULL, not the text NULL",
      "a write that fails is repeated without storing a row twice, and one bad event does not keep the others",
      "an event whose retries (batch_ttl) are used up is kept as a dead letter instead of being dropped",
      "NGSI-LD: arrays, nulls, language maps and the concise form are stored instead of stopping the sink",
    ],
    different: [
      "a name that is longer than the database takes is cut and ends in a hash; there the event was dropped",
      "milliseconds always have three digits: .047, not .47",
      "rdb_options counts for NGSI-LD too: sslmode=require needs a server with TLS, sslmode=prefer does not",
      "values that hold functions such as ST_GeomFromGeoJSON are stored as text, never run as SQL",
      "the table of errors, <database>_error_log, is written with persist_errors = true only, one row for each event that the database refuses for good",
      "schemas are made in rdb_database; there they were made in the database named like the user",
    ],
  };
}
