import { type PartitionStatements, plain, type Statement, type TableName } from "deneb/sql";
import { conversionSteps, convertible, releaseText } from "./conversion.js";
import { hypertableIndexes, partitionedIndexes } from "./indexes.js";
import { path } from "./statements.js";
import { boundsText, literal, partitionName } from "./time-ranges.js";

// Longer, and the rows of others would wait behind this statement.
const LOCK_WAIT = "SET LOCAL lock_timeout = '500ms'";

export const postgresqlPartitions: PartitionStatements = {
  areTables: true,
  // Also every CHECK of a table; the messages depend on the language of the server.
  missing: ({ code }) => code === "23514",
  list,
  // ATTACH does not keep readers and writers waiting, PARTITION OF would.
  add: (table, ranges, attempt) =>
    ranges.flatMap((range) => {
      const child = { ...table.name, table: partitionName(table.name, range, attempt) };
      return [
        plain(
          table.name,
          `CREATE TABLE ${path(child)} (LIKE ${path(table.name)} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE)`,
        ),
        plain(
          table.name,
          `ALTER TABLE ${path(table.name)} ATTACH PARTITION ${path(child)} ${boundsText(range, table.time)}`,
        ),
      ];
    }),
  drop: (table, expired) => [
    plain(table.name, LOCK_WAIT),
    ...expired.map(({ name }) => plain(table.name, `DROP TABLE IF EXISTS ${path(name)}`)),
  ],
  convertible,
  convert: conversionSteps,
  createIndexes: partitionedIndexes,
  release: (name) => [plain(name, releaseText(name))],
  hypertables: (tables) =>
    byDatabase(tables).map(([database, own]) => ({
      at: { database, schema: "" },
      text: `
      SELECT $1, h.hypertable_schema, h.hypertable_name FROM timescaledb_information.hypertables h
      JOIN json_to_recordset($2::json) AS w("schema" text, "table" text)
        ON w."schema" = h.hypertable_schema AND w."table" = h.hypertable_name`,
      runs: [[database, JSON.stringify(own)]],
    })),
  hypertableRemedy: (name, time, period) =>
    [
      `SELECT create_hypertable(${literal(path(name))}, ${literal(time.name)}, chunk_time_interval => interval '1 ${period}'`,
      "create_default_indexes => false, migrate_data => true)",
    ].join(", "),
  hypertableIndexes,
  dropChunks: (name, time, before) => ({
    at: name,
    text: `SELECT CASE (
      SELECT atttypid FROM pg_catalog.pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2)
      ${chunksBefore("timestamp")} ${chunksBefore("date")} ELSE ${dropped("timestamptz")} END`,
    runs: [[path(name), time.name, before]],
  }),
};

/** The time has to have the very type of the column. Chunks are dropped by the branch that is taken, and by no other. */
function chunksBefore(type: string): string {
  return `WHEN '${type}'::regtype THEN ${dropped(type)}`;
}

function dropped(type: string): string {
  const older = type === "timestamptz" ? "($3::text || '+00')::timestamptz" : `$3::text::timestamp::${type}`;
  return `(SELECT count(*) FROM drop_chunks($1::regclass, older_than => ${older}))`;
}

function list(tables: readonly TableName[], time: string): readonly Statement[] {
  return byDatabase(tables).map(([database, own]) => ({
    at: { database, schema: "" },
    text: LIST,
    runs: [[database, JSON.stringify(own), time]],
  }));
}

function byDatabase(tables: readonly TableName[]): readonly (readonly [string, readonly TableName[]])[] {
  const databases = [...new Set(tables.map(({ database }) => database))];
  return databases.map((database) => [database, tables.filter((name) => name.database === database)]);
}

// Bounds of times are written in the zone and style of the session, with abbreviations that can mean several zones. A join
// gives no row, and so writes no bound, before the setting is made. Patterns have no backslash, which a database may read as an
// escape (standard_conforming_strings).
const LIST = `
  WITH session AS MATERIALIZED (SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, YMD', true)),
  wanted AS (SELECT * FROM json_to_recordset($2::json) AS w("schema" text, "table" text)),
  found AS (
    SELECT n.nspname AS parent_schema, p.relname AS parent, m.nspname AS schema, c.relname AS partition,
      pg_get_expr(c.relpartbound, c.oid) AS bound, a.atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype) AS is_time
    FROM session CROSS JOIN wanted
    JOIN pg_catalog.pg_namespace n ON n.nspname = wanted."schema"
    JOIN pg_catalog.pg_class p ON p.relnamespace = n.oid AND p.relname = wanted."table"
    JOIN pg_catalog.pg_partitioned_table t ON t.partrelid = p.oid AND t.partstrat = 'r' AND t.partnatts = 1
    JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum = t.partattrs[0] AND a.attname = $3
    LEFT JOIN pg_catalog.pg_inherits i ON i.inhparent = p.oid
    LEFT JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
    LEFT JOIN pg_catalog.pg_namespace m ON m.oid = c.relnamespace),
  texts AS (
    SELECT *, substring(bound FROM 'FROM [(]''([^'']*)''[)]') AS lower_bound,
      substring(bound FROM 'TO [(]''([^'']*)''[)]') AS upper_bound
    FROM found)
  SELECT $1, parent_schema, parent, schema, partition, ${inUtc("lower_bound")}, ${inUtc("upper_bound")},
    CASE WHEN bound = 'DEFAULT' THEN 'filler' END
  FROM texts`;

function inUtc(bound: string): string {
  return `CASE WHEN is_time THEN to_char(${bound}::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') ELSE ${bound} END`;
}
