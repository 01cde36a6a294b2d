import { AgentError, type Event } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { PartlyWritten } from "../contract/driver.js";
import { plain, type SchemaName, type Statement, schemaKey } from "../contract/statement.js";
import { inOrder, type TableBatch } from "../rows/grouping.js";
import { isShortened } from "../rows/table-names.js";
import { type FittedRows, fitted, refuseColumns } from "./fitting.js";
import { type KnownStore, lookUp } from "./known-store.js";
import type { KnownColumns } from "./known-tables.js";
import type { Register } from "./register.js";
import type { TableLife } from "./table-life.js";
import { refuseOtherKeys, unknownKeyed } from "./unique-keys.js";

const MOST_ATTEMPTS = 5;
// Where each definition commits by itself, another agent may be ahead at one table after the other.
const MOST_FOR_TABLES = 100;
// Each new table takes several locks until the end of its transaction; a server has a few thousand.
const TABLES_PER_TRANSACTION = 200;
/** As many connections as a sink has by default. A server that makes several tables at once waits for its disk once for all of them. */
const DEFINED_AT_ONCE = 3;

/** A store whose tables are listed in a register; without a register they are not. */
export interface ListedStore extends KnownStore {
  readonly register: Register | undefined;
  /** The partitions and indexes of new tables. */
  readonly life: TableLife;
}

/** Creates the schemas, tables and columns that the batches need, and returns the rows converted for them. */
export async function makeMissing(
  batches: readonly TableBatch[],
  store: ListedStore,
  signal: AbortSignal,
): Promise<readonly FittedRows[]> {
  const { register } = store;
  for (let attempt = 1; ; attempt++) {
    const names = batches.map(({ name }) => name);
    const keyed = unknownKeyed(batches, store);
    if (register === undefined) await lookUp(names, store, signal);
    else await register.lookUp(batches, signal);
    for (const batch of batches) register?.refuseForeign(batch, store.tables.columns(batch.name));
    await refuseOtherKeys(keyed, store, signal);
    const wanted = batches.map((batch) => {
      const columns = store.tables.columns(batch.name);
      refuseColumns(batch, columns, store);
      const rows = fitted(batch, columns, store);
      refuseTooWide(batch, { rows, columns }, store);
      return rows;
    });
    try {
      await makeAll(wanted, store, signal);
      await register?.listExisting(wanted, signal);
      return wanted;
    } catch (error) {
      const most = MOST_ATTEMPTS + Math.min(names.length, MOST_FOR_TABLES);
      if (attempt === most || !store.dialect.errors.raced(databaseErrorOf(error))) throw error;
      for (const name of names) store.tables.forget(name);
    }
  }
}

interface Fit {
  readonly rows: FittedRows;
  readonly columns: KnownColumns | undefined;
}

/**
 * Throws code `DATA_REFUSED` for rows whose table would get more columns than the database allows, or refused a moment ago: before
 * anything is created, with the name of the table, which databases do not tell, and with the events that have no room.
 */
function refuseTooWide(batch: TableBatch, { rows, columns: known }: Fit, { dialect, tables }: KnownStore): void {
  const { name, lacking } = rows;
  const columns = (known?.size ?? 0) + lacking.length;
  const most = Math.min(dialect.mostColumns ?? Number.POSITIVE_INFINITY, tables.mostColumns(name));
  if (lacking.length === 0 || columns <= most) return;
  const message = `storing into table "${name.table}" of schema "${name.schema}": it would have ${columns} columns, the limit is ${most}`;
  const remedy = "use attr_persistence = row for such entities, or leave out attributes in the subscription";
  const events = withoutRoom(batch, known, { most, columnKey: dialect.columnKey });
  throw new AgentError("DATA_REFUSED", `${message}; ${remedy}`, { retryable: false, events });
}

interface Room {
  readonly most: number;
  columnKey(column: string): string;
}

/** The events whose new columns find no room beside those of the events before them; undefined if that does not tell them apart. */
function withoutRoom(
  { placed }: TableBatch,
  known: KnownColumns | undefined,
  { most, columnKey }: Room,
): readonly Event[] | undefined {
  const taken = new Set(known?.keys());
  const refused = new Set<Event>();
  for (const row of placed) {
    const { columns, native, event } = row;
    // A column whose type is not known is not made yet.
    const given = native.length === 0 ? undefined : row.values();
    const made = columns.filter((column, at) => !(native.includes(column) && given?.[at] === undefined));
    const fresh = new Set(made.map(columnKey).filter((key) => !taken.has(key)));
    if (taken.size + fresh.size <= most) for (const key of fresh) taken.add(key);
    else if (fresh.size > 0) refused.add(event);
  }
  return refused.size === 0 ? undefined : [...refused];
}

async function makeAll(wanted: readonly FittedRows[], store: ListedStore, signal: AbortSignal): Promise<void> {
  // In the same order everywhere, so that two sinks do not deadlock.
  const lacking = inOrder(wanted.filter(({ lacking, widened }) => lacking.length > 0 || widened.length > 0));
  for (let start = 0; start < lacking.length; start += TABLES_PER_TRANSACTION) {
    const some = lacking.slice(start, start + TABLES_PER_TRANSACTION);
    try {
      await make(some, store, signal);
    } catch (error) {
      noteTooWide(some, error, store);
      throw error;
    }
  }
}

/** The database may take fewer columns than it can have: those of InnoDB share a page, and PostgreSQL counts dropped ones. */
function noteTooWide([table, ...others]: readonly FittedRows[], error: unknown, { dialect, tables }: KnownStore): void {
  if (table === undefined || others.length > 0 || dialect.errors.tooWide?.(databaseErrorOf(error)) !== true) return;
  tables.noteTooWide(table.name, (tables.columns(table.name)?.size ?? 0) + table.lacking.length);
}

async function make(lacking: readonly FittedRows[], store: ListedStore, signal: AbortSignal): Promise<void> {
  const { dialect, tables, log } = store;
  const created = lacking.filter(({ name }) => tables.columns(name) === undefined);
  const schemas = missingSchemas(created, store);
  const definitions = {
    schemas: schemas.flatMap((schema) => dialect.createSchema(schema)),
    tables: lacking.map((table) => madeBy(table, store)),
  };
  await defineListed(definitions, created, { store, signal });
  for (const schema of schemas) tables.learnSchema(schema);
  for (const { name, columns } of lacking) {
    tables.learn(name, columns);
    store.changed?.(name);
  }
  log.debug(
    { schemas: schemas.length, created: created.length, altered: lacking.length - created.length },
    "tables created",
  );
  await writeNotes(created, store, signal);
}

function missingSchemas(created: readonly FittedRows[], { tables }: KnownStore): readonly SchemaName[] {
  const schemas = new Map(
    created.map(({ name: { database, schema } }) => [schemaKey({ database, schema }), { database, schema }]),
  );
  return [...schemas.values()].filter((schema) => !tables.hasSchema(schema));
}

function madeBy(table: FittedRows, store: ListedStore): readonly Statement[] {
  const { dialect, tables } = store;
  const { name, lacking, widened } = table;
  if (tables.columns(name) === undefined) return dialect.createTable(store.life.definition(table));
  const wider = widened.filter((column) => tables.kind(name, column) !== undefined);
  return [
    ...(lacking.length === 0 ? [] : dialect.addColumns(name, lacking)),
    ...(wider.length === 0 ? [] : dialect.widenColumns(name, wider)),
  ];
}

interface Definitions {
  readonly schemas: readonly Statement[];
  /** Of each table those that make or change it. */
  readonly tables: readonly (readonly Statement[])[];
  /** Run last. */
  readonly listing?: readonly Statement[];
}

interface Defining {
  readonly store: ListedStore;
  readonly signal: AbortSignal;
}

/** Creates tables and lists them in one step; without listing them if the store refuses only that. */
async function defineListed(
  definitions: Definitions,
  created: readonly FittedRows[],
  { store, signal }: Defining,
): Promise<void> {
  const { register } = store;
  const listing = register?.statements(created) ?? [];
  try {
    await define({ ...definitions, listing }, store, signal);
    register?.learnListed(created);
  } catch (error) {
    const databaseError = databaseErrorOf(error);
    if (register === undefined || listing.length === 0) throw error;
    // Another process created or dropped such an object at the same time: everything is tried again.
    if (store.dialect.errors.missing(databaseError) || store.dialect.errors.raced(databaseError)) {
      register.forget(created);
      throw error;
    }
    await register.throwUnlessAnswered(error, signal);
    await define(definitions, store, signal);
    // They are listed by themselves next: the cause may have been the connection.
    register.leave(created);
  }
}

async function define(definitions: Definitions, { driver, dialect }: KnownStore, signal: AbortSignal): Promise<void> {
  const { schemas, tables, listing = [] } = definitions;
  try {
    // Separate from the rows: MySQL commits implicitly at every definition.
    if (dialect.definesApart !== true || tables.length === 1)
      return void (await driver.write([...schemas, ...tables.flat(), ...listing], signal));
    if (schemas.length > 0) await driver.write(schemas, signal);
    await defineApart(tables, driver, signal);
    if (listing.length > 0) await driver.write(listing, signal);
  } catch (error) {
    // Tables that were created in some schemas only do no harm: no row is written yet.
    throw error instanceof PartlyWritten ? error.cause : error;
  }
}

/** Over several connections. Rejects after all have ended: nothing is made behind the back of who tries again. */
async function defineApart(
  tables: Definitions["tables"],
  driver: KnownStore["driver"],
  signal: AbortSignal,
): Promise<void> {
  const shares = Array.from({ length: DEFINED_AT_ONCE }, (_, share) =>
    tables.filter((_, at) => at % DEFINED_AT_ONCE === share).flat(),
  );
  const some = shares.filter((statements) => statements.length > 0);
  const ends = await Promise.allSettled(some.map((statements) => driver.write(statements, signal)));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Writes the full id or type of a table with a shortened name as its comment, where the store has comments. */
async function writeNotes(created: readonly FittedRows[], store: KnownStore, signal: AbortSignal): Promise<void> {
  const { dialect, driver, log } = store;
  const shortened = created.filter(({ name }) => isShortened(name, dialect));
  const questions = dialect.noteTexts(shortened.map(({ name, subject }) => ({ name, text: subject })));
  if (questions.length === 0) return;
  try {
    const texts = await driver.read(questions, signal);
    await driver.write(
      texts.flatMap(([database = "", text]) => (text === undefined ? [] : plain({ database, schema: "" }, text))),
      signal,
    );
  } catch (error) {
    // The rows are more important than the comment, and contain the full id.
    log.warn(
      { tables: shortened.length, reason: databaseErrorOf(error).message },
      "comments on shortened table names not written",
    );
  }
}
