import type { TableRows } from "./dialects/dialect.js";
import { PartlyWritten } from "./drivers/driver.js";
import { faultOf } from "./faults.js";
import type { KnownStore } from "./known-store.js";
import { lookUp } from "./look-up.js";
import type { Statement } from "./statement.js";
import { writeNotes } from "./table-notes.js";

const MOST_ATTEMPTS = 5;
// Each table made takes several locks until the end of its transaction, and a server has some thousands of them.
const TABLES_PER_TRANSACTION = 200;

/** Makes the schemas, tables and columns that the rows need and the store does not have. */
export async function makeMissing(wanted: readonly TableRows[], store: KnownStore, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const names = wanted.map(({ name }) => name);
    await lookUp(names, store, signal);
    try {
      await makeAll(wanted, store, signal);
      return;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !store.dialect.faults.raced(faultOf(error))) throw error;
      for (const name of names) store.tables.forget(name);
    }
  }
}

async function makeAll(wanted: readonly TableRows[], store: KnownStore, signal: AbortSignal): Promise<void> {
  // In one order everywhere, so that two sinks do not wait for each other.
  const lacking = wanted.filter((table) => lackingColumns(table, store).length > 0).sort(byName);
  for (let start = 0; start < lacking.length; start += TABLES_PER_TRANSACTION) {
    await make(lacking.slice(start, start + TABLES_PER_TRANSACTION), store, signal);
  }
}

async function make(lacking: readonly TableRows[], store: KnownStore, signal: AbortSignal): Promise<void> {
  const { dialect, tables, log } = store;
  const created = lacking.filter(({ name }) => tables.columns(name) === undefined);
  const schemas = [...new Set(created.map(({ name }) => name.schema))].filter((schema) => !tables.hasSchema(schema));
  const statements = [
    ...schemas.flatMap((schema) => dialect.createSchema(schema)),
    ...lacking.flatMap((table) => madeBy(table, store)),
  ];
  await define(statements, store, signal);
  for (const schema of schemas) tables.learnSchema(schema);
  for (const { name, columns } of lacking) tables.learn(name, columns);
  log.debug(
    { schemas: schemas.length, created: created.length, altered: lacking.length - created.length },
    "tables made",
  );
  await writeNotes(created, store, signal);
}

function madeBy(table: TableRows, store: KnownStore): readonly Statement[] {
  const exists = store.tables.columns(table.name) !== undefined;
  return exists
    ? store.dialect.addColumns(table.name, lackingColumns(table, store))
    : store.dialect.createTable(table.name, table.columns);
}

function lackingColumns({ name, columns }: TableRows, { tables }: KnownStore): readonly string[] {
  const known = tables.columns(name);
  return known === undefined ? columns : columns.filter((column) => !known.has(column));
}

async function define(statements: readonly Statement[], { driver }: KnownStore, signal: AbortSignal): Promise<void> {
  try {
    await driver.write(statements, signal);
  } catch (error) {
    // Tables made in some schemas only are no harm: no row is written yet.
    throw error instanceof PartlyWritten ? error.cause : error;
  }
}

function byName({ name: a }: TableRows, { name: b }: TableRows): number {
  return compare(a.schema, b.schema) || compare(a.table, b.table);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
