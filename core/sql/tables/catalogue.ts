import type { StoredSelection, StoredTable } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { type TableName, tableKey } from "../contract/statement.js";
import { type KnownStore, lookUp } from "./known-store.js";
import { readLister } from "./lister.js";
import { registers, SERVICE } from "./register-rows.js";

/** The columns of a register that are read here. Those of later versions may be absent. */
const columns = [
  "schema_name",
  "table_name",
  "sink",
  "kind",
  "subject",
  "known_since",
  "data_model",
  "entity_type",
  "service",
  "service_path",
  "last_write",
] as const;

type Found = Partial<Readonly<Record<string, string>>>;

/** The tables that the registers list, of all sinks, sorted by name. */
export async function catalogued(
  selection: StoredSelection,
  store: KnownStore,
  signal: AbortSignal,
): Promise<readonly StoredTable[]> {
  const all = await registers(store, signal);
  await lookUp(all, store, signal);
  let found: readonly StoredTable[] = [];
  for (const register of all) found = found.concat(await tablesUnlessGone(register, store, signal));
  return withoutEarlier(found)
    .filter((table) => fits(table, selection))
    .sort(byName);
}

async function tablesUnlessGone(
  register: TableName,
  store: KnownStore,
  signal: AbortSignal,
): Promise<readonly StoredTable[]> {
  try {
    return await tablesOf(register, store, signal);
  } catch (error) {
    // Others may drop their schemas at any time.
    if (store.dialect.errors.missing(databaseErrorOf(error))) return [];
    throw error;
  }
}

async function tablesOf(
  register: TableName,
  { dialect, driver, tables }: KnownStore,
  signal: AbortSignal,
): Promise<readonly StoredTable[]> {
  const there = columns.filter((column) => tables.kind(register, column) !== undefined);
  if (there.length === 0) return [];
  const answer = await driver.read([dialect.selectColumns(there, { name: register, key: [], cells: [] })], signal);
  const rows = answer.map((row): Found => Object.fromEntries(there.map((column, index) => [column, row[index]])));
  const services = servicesOf(rows);
  return rows.flatMap((row) => tableOf(row, register, services) ?? []);
}

/** The services of each schema. */
function servicesOf(rows: readonly Found[]): ReadonlyMap<string, readonly string[]> {
  const services = new Map<string, string[]>();
  for (const { schema_name: schema = "", kind, subject = "" } of rows) {
    if (kind !== SERVICE) continue;
    const known = services.get(schema);
    if (known === undefined) services.set(schema, [subject]);
    else if (!known.includes(subject)) known.push(subject);
  }
  return services;
}

function tableOf(
  row: Found,
  register: TableName,
  services: ReadonlyMap<string, readonly string[]>,
): StoredTable | undefined {
  const { schema_name: schema = "", table_name: table = "", sink = "", kind, subject = "", known_since: since } = row;
  if (kind !== "history" && kind !== "last data") return undefined;
  const { database } = register;
  const [only, ...others] = services.get(schema) ?? [];
  const service = row["service"] ?? (others.length === 0 ? only : undefined);
  const optional = {
    dataModel: row["data_model"],
    entityType: row["entity_type"],
    service,
    servicePath: row["service_path"],
    firstWrite: since,
    lastWrite: row["last_write"],
  };
  const known = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  const lister = readLister(sink);
  return {
    name: printedName({ database, schema, table }),
    database,
    schema,
    table,
    ...(lister.agent === undefined ? {} : { agent: lister.agent }),
    sink: lister.sink,
    kind,
    subject,
    ...known,
  };
}

/** Without the rows of earlier versions that named no agent, where an agent has listed the table since. */
function withoutEarlier(all: readonly StoredTable[]): readonly StoredTable[] {
  const keyOf = (table: StoredTable) => `${tableKey(table)}\0${table.sink}`;
  const earlier = new Map<string, StoredTable>();
  const named = new Set<string>();
  for (const table of all)
    if (table.agent === undefined) earlier.set(keyOf(table), table);
    else named.add(keyOf(table));
  return all.flatMap((table) => {
    const before = earlier.get(keyOf(table));
    if (table.agent === undefined) return named.has(keyOf(table)) ? [] : [table];
    return before?.firstWrite === undefined ? [table] : [{ ...table, firstWrite: before.firstWrite }];
  });
}

/** The name of a table for people. A database or schema with a dot is in quotes: the table `b.c` of `a` is not `c` of `a.b`. */
export function printedName({ database, schema, table }: TableName): string {
  return [...[...new Set([database, schema])].map(quoted), table].filter((part) => part !== "").join(".");
}

function quoted(name: string): string {
  return /[."]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** Whether a table is one of those that a selection means, or may be. */
export function fits(table: StoredTable, { entity, service, tables }: StoredSelection): boolean {
  if (tables !== undefined && !tables.includes(table.name)) return false;
  if (service !== undefined && table.service !== service) return false;
  return entity === undefined || mayHold(table, entity);
}

/** Only the models by entity and by attribute make tables of one entity. */
function mayHold({ subject, dataModel }: StoredTable, entity: string): boolean {
  return subject === entity || dataModel === undefined || !/^dm-by-(?:entity|attribute)(?!-type)/.test(dataModel);
}

function byName(one: StoredTable, other: StoredTable): number {
  const [a, b] = [tableKey(one), tableKey(other)];
  if (a !== b) return a < b ? -1 : 1;
  return `${one.sink} ${one.agent}` < `${other.sink} ${other.agent}` ? -1 : 1;
}
