import { randomBytes } from "node:crypto";
import { hasOwnDatabase, parseDataModel } from "deneb/ngsi";
import { codeOf, reasonOf } from "deneb/sdk";
import type { RdbConfig } from "../config.js";
import type { Ask } from "./ask.js";

const FORBIDDEN = "42501";
const LIMIT_MILLIS = 5000;

/** Everything that the sink does to a new schema; the transaction is rolled back. */
export const schemaRights: Ask = async (client, { config, server }) => {
  const schema = `deneb_check_${randomBytes(6).toString("hex")}`;
  const table = `${schema}.rows`;
  const steps = [
    `CREATE SCHEMA ${schema}`,
    `CREATE TABLE ${table} (entityid text PRIMARY KEY, value text)`,
    `ALTER TABLE ${table} ADD COLUMN more text`,
    `INSERT INTO ${table} VALUES ('a', 'b')`,
    `UPDATE ${table} SET value = 'c'`,
    `DELETE FROM ${table}`,
    `COMMENT ON TABLE ${table} IS 'deneb'`,
    ...(config.views ? [`CREATE VIEW ${schema}.seen AS SELECT * FROM ${table}`] : []),
  ];
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL statement_timeout = ${LIMIT_MILLIS}`);
    for (const step of steps) await client.query(step);
    return { outcome: "ok" };
  } catch (error) {
    if (codeOf(error) !== FORBIDDEN) throw error;
    await client.query("ROLLBACK");
    const { rows } = await client.query<{ readonly name: string }>(USABLE_SCHEMAS);
    const usable = rows.map(({ name }) => name).filter((name) => name !== "deneb");
    const remedy = `a superuser can run GRANT CREATE ON DATABASE ${quoted(server.database)} TO ${quoted(server.username)}`;
    const reason = reasonOf(error);
    // Behind a durable channel the schema of the positions is needed for every row.
    const needsOwn = config.exactly_once && rows.length === usable.length;
    if (usable.length === 0 || needsOwn) return { outcome: "failed", reason, remedy };
    const found = `${reason}; only services of existing schemas can be stored: ${usable.slice(0, MOST_NAMED).join(", ")}`;
    return { outcome: "warning", reason: found, remedy };
  } finally {
    await client.query("ROLLBACK");
  }
};

const MOST_NAMED = 5;

const USABLE_SCHEMAS = `
  SELECT nspname AS name FROM pg_catalog.pg_namespace
  WHERE nspname::text !~ '^pg_' AND nspname NOT IN ('information_schema', 'public')
    AND has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE')
  ORDER BY nspname`;

/** For data models that give each service a database of its own. */
export const databaseRight: Ask = async (client, { server }) => {
  const { rows } = await client.query(
    "SELECT rolcreatedb OR rolsuper AS may FROM pg_catalog.pg_roles WHERE rolname = current_user",
  );
  if (rows[0]?.["may"] === true) return { outcome: "ok" };
  return {
    outcome: "warning",
    reason: `user "${server.username}" may not create databases: only services that have one can be stored`,
    remedy: `a superuser can run ALTER ROLE ${quoted(server.username)} CREATEDB`,
  };
};

/** Whether the data model gives each service a database of its own. */
export function hasOwnDatabases({ data_model }: Pick<RdbConfig, "data_model">): boolean {
  const model = parseDataModel(data_model);
  return model !== undefined && hasOwnDatabase(model);
}

/** Whether an extension is there, and its types or functions can be used without a schema before their names. */
export function extensionProbe(name: "postgis" | "timescaledb"): Ask {
  return async (client, { server, config }) => {
    const { rows } = await client.query(
      "SELECT extversion AS version FROM pg_catalog.pg_extension WHERE extname = $1",
      [name],
    );
    const version: unknown = rows[0]?.["version"];
    const own = hasOwnDatabases(config);
    const elsewhere = own ? "; the database of each service needs it" : "";
    const where = own ? "template1, and in the databases that services have" : `database "${server.database}"`;
    const remedy = `a superuser can run CREATE EXTENSION ${name} in ${where}`;
    const missing = own ? "warning" : "failed";
    if (version === undefined)
      return { outcome: missing, reason: `${name} is not installed there${elsewhere}`, remedy };
    if (name === "postgis") await client.query("SELECT NULL::geometry(Geometry, 4326)");
    return { outcome: "ok", reason: `${name} ${String(version)}${elsewhere}` };
  };
}

/** The tables that this sink has listed, and those that it keeps for itself: somebody else may own them. */
export const listedTables: Ask = async (client, { context: { agent, name } }) => {
  const [found] = (await client.query("SELECT to_regclass('deneb.tables') IS NOT NULL AS there")).rows;
  if (found?.["there"] !== true) return { outcome: "ok", reason: "there are none yet" };
  const { rows } = await client.query<TableRight>(TABLE_RIGHTS, [
    [...(agent === undefined ? [] : [`${agent}.${name}`]), name],
  ]);
  const closed = rows.filter(({ writable }) => !writable).map(({ table }) => table);
  const strange = rows.filter(({ owned }) => !owned).map(({ table }) => table);
  const named = (tables: readonly string[]) => `${tables.length} of ${rows.length} tables, such as ${tables[0]}`;
  if (closed.length > 0)
    return {
      outcome: "failed",
      reason: `the user may not read, write, change and delete rows of ${named(closed)}`,
      remedy: "grant it, or make the user a member of the role that owns them",
    };
  if (strange.length === 0) return { outcome: "ok", reason: rows.length === 1 ? "1 table" : `${rows.length} tables` };
  return {
    outcome: "warning",
    reason: `the user does not own ${named(strange)}: no column can be added there`,
    remedy: "make the user a member of the role that owns them",
  };
};

interface TableRight {
  readonly table: string;
  readonly writable: boolean;
  readonly owned: boolean;
}

const TABLE_RIGHTS = `
  SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS table,
    has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
      AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE') AS writable,
    pg_has_role(c.relowner, 'USAGE') AS owned
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND (
    n.nspname = 'deneb' OR (n.nspname, c.relname) IN (SELECT schema_name, table_name FROM deneb.tables WHERE sink = ANY ($1)))
  ORDER BY 1`;

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
