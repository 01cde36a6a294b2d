import type { Column } from "../contract/column.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type { Dialect, TableDefinition } from "../contract/dialect.js";
import {
  type Cell,
  joinedRuns,
  type SchemaName,
  type Statement,
  type TableName,
  tableKey,
} from "../contract/statement.js";
import { type KnownStore, lookUp } from "./known-store.js";
import { refuseNewerTable } from "./known-tables.js";
import { Belongings, type Lister, listerText, readLister } from "./lister.js";

/** The purpose of a table. */
export type TableKind = "history" | "last data";

/** A table in the list of a sink. */
export interface Listing {
  readonly name: TableName;
  readonly kind: TableKind;
  /** The full id or type that the table is named after. */
  readonly subject: string;
}

/** A row of a register. */
export interface RegisterRow extends Listing {
  readonly lister: Lister;
}

export const SCHEMA = "schema_name";
export const TABLE = "table_name";
export const SINK = "sink";
/** What is unique in a register. */
export const registerKey = [SCHEMA, TABLE, SINK];
const TIME: Column = { name: "known_since", kind: "text" };
/** More may follow. */
export const registerColumns: readonly Column[] = [
  ...registerKey.map((name) => ({ name, kind: "text" }) as const),
  { name: "kind", kind: "text" },
  { name: "subject", kind: "longtext" },
  TIME,
];
const CELLS_OF_ROW = 6;

export const LAST_WRITE: Column = { name: "last_write", kind: "text" };
/** Facts about a table. A register of an earlier version gets these columns with the first facts. */
export const factColumns: readonly Column[] = [
  { name: "data_model", kind: "text" },
  { name: "entity_type", kind: "longtext" },
  { name: "service", kind: "longtext" },
  { name: "service_path", kind: "longtext" },
  LAST_WRITE,
];

export function registerDefinition(name: TableName): TableDefinition {
  return { name, columns: [...registerColumns, ...factColumns], key: registerKey };
}

interface ListingParts {
  readonly lister: Lister;
  readonly time: string;
  readonly dialect: Dialect;
}

/** Lists the tables for a sink. Another process may list the same ones for the same sink. */
export function listingStatements(
  listings: readonly Listing[],
  { lister, time, dialect }: ListingParts,
): readonly Statement[] {
  const rows = listings.map(({ name, kind, subject }) =>
    dialect.upsert({
      name: dialect.registerTable(name),
      columns: registerColumns,
      cells: [name.schema, name.table, listerText(lister), kind, subject, time],
      key: registerKey,
      time: TIME,
      timeFormat: undefined,
      members: undefined,
    }),
  );
  return joinedRuns(rows);
}

/** The kind of a row that lists a service instead of a table: its key takes the place of the name of a table. */
export const SERVICE = "service";

/** A service that is stored in a schema, and a key for it that is no name of a table. */
interface ListedService {
  readonly service: string;
  readonly key: string;
}

/** Lists services of a schema for a sink. */
export function serviceStatements(
  of: SchemaName,
  services: readonly ListedService[],
  { lister, time, dialect }: ListingParts,
): readonly Statement[] {
  const name = dialect.registerTable(of);
  const rows = services.map(({ service, key }) =>
    dialect.upsert({
      name,
      columns: registerColumns,
      cells: [of.schema, key, listerText(lister), SERVICE, service, time],
      key: registerKey,
      time: TIME,
      timeFormat: undefined,
      members: undefined,
    }),
  );
  return joinedRuns(rows);
}

/** The services that any sink has listed for a schema. */
export async function listedServices(
  of: SchemaName,
  { dialect, driver }: KnownStore,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const name = dialect.registerTable(of);
  const question = dialect.selectColumns(["subject"], { name, key: [SCHEMA, "kind"], cells: [of.schema, SERVICE] });
  return (await driver.read([question], signal)).flatMap(([service]) => service ?? []);
}

/** The rows of a register in a result that also contains columns of tables. */
export function registerRows(answer: readonly (readonly Cell[])[]): readonly RegisterRow[] {
  return answer.flatMap((row) => {
    if (row.length !== CELLS_OF_ROW) return [];
    const [database = "", schema = "", table = "", sink = "", kind, subject = ""] = row;
    const known = kind === "history" || kind === "last data" ? kind : undefined;
    return known === undefined
      ? []
      : [{ name: { database, schema, table }, lister: readLister(sink), kind: known, subject }];
  });
}

/** The other rows. */
export function columnRows(answer: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  return answer.filter((row) => row.length !== CELLS_OF_ROW);
}

export interface ListedTables {
  /** The tables of history of a sink. */
  readonly own: readonly TableName[];
  /** Tables of history of which it is not known whether they are of this sink. */
  readonly unclear: readonly TableName[];
  /** All other tables: those of last data, and those of other sinks. */
  readonly others: readonly TableName[];
}

/**
 * The listed tables from the point of view of a sink. A table that holds last data for one sink is history for none.
 */
export function listedTables(rows: readonly RegisterRow[], self: Lister): ListedTables {
  const lastData = new Set(rows.filter(({ kind }) => kind === "last data").map(({ name }) => tableKey(name)));
  const belongings = new Belongings(rows, self);
  const found = { own: new Map<string, TableName>(), unclear: new Map<string, TableName>() };
  for (const row of rows) {
    const belonging = belongings.of(row);
    if (belonging !== "other" && !lastData.has(tableKey(row.name))) found[belonging].set(tableKey(row.name), row.name);
  }
  for (const key of found.own.keys()) found.unclear.delete(key);
  const taken = new Set([...found.own.keys(), ...found.unclear.keys()]);
  return {
    own: [...found.own.values()],
    unclear: [...found.unclear.values()],
    others: rows.flatMap(({ name }) => (taken.has(tableKey(name)) ? [] : [name])),
  };
}

/** The rows of all existing registers. */
export async function rowsAnywhere(store: KnownStore, signal: AbortSignal): Promise<readonly RegisterRow[]> {
  let rows: readonly RegisterRow[] = [];
  for (const register of await registers(store, signal)) rows = rows.concat(await rowsOf(register, store, signal));
  return rows;
}

/** The registers of all known commit units. */
export async function registers(store: KnownStore, signal: AbortSignal): Promise<readonly TableName[]> {
  return await registersOf(await store.driver.commitUnits(signal), store, signal);
}

/** The registers of these commit units. */
export async function registersOf(
  units: readonly SchemaName[],
  store: KnownStore,
  signal: AbortSignal,
): Promise<readonly TableName[]> {
  const { dialect, driver } = store;
  const columns = registerColumns.map(({ name }) => name);
  const found = new Map<string, TableName>();
  const answer = await driver.read(dialect.tablesWith(columns, units), signal);
  for (const [database = "", schema = "", table = ""] of answer) {
    const name = dialect.registerTable({ database, schema });
    if (name.schema === schema && name.table === table) found.set(tableKey(name), name);
  }
  const names = [...found.values()];
  await lookUp(names, store, signal);
  for (const name of names) refuseNewerTable(name, store);
  return names;
}

async function rowsOf(
  register: TableName,
  { dialect, driver, log }: KnownStore,
  signal: AbortSignal,
): Promise<readonly RegisterRow[]> {
  try {
    return registerRows(await driver.read(dialect.registered(register), signal));
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = databaseErrorOf(error);
    // Others may drop their schemas at any time.
    if (!dialect.errors.missing(reason)) {
      log.warn({ register, reason: reason.message }, "a register of tables cannot be read");
    }
    return [];
  }
}
