import { AgentError } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { PartlyWritten } from "../contract/driver.js";
import { plain, type SchemaName, type Statement, schemaKey } from "../contract/statement.js";
import { inOrder, type TableBatch } from "../rows/grouping.js";
import { isShortened } from "../rows/table-names.js";
import { type FittedRows, fitted, refuseMistaken } from "./fitting.js";
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
      refuseMistaken(batch, columns, store);
      const rows = fitted(batch, columns, store);
      refuseTooWide(rows, columns, store);
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

/**
 * Throws code `DATA_REFUSED` for rows whose table would get more columns than the database allows: before anything is
 * created, and with the name of the table, which databases do not tell.
 */
function refuseTooWide(
  { name, lacking }: FittedRows,
  known: KnownColumns | undefined,
  { dialect: { mostColumns } }: Pick<KnownStore, "dialect">,
): void {
  const columns = (known?.size ?? 0) + lacking.length;
  if (mostColumns === undefined || lacking.length === 0 || columns <= mostColumns) return;
  const message = `storing into table "${name.table}" of schema "${name.schema}": it would have ${columns} columns, the limit is ${mostColumns}`;
  const remedy = "use attr_persistence = row for such entities, or leave out attributes in the subscription";
  throw new AgentError("DATA_REFUSED", `${message}; ${remedy}`, { retryable: false });
}

async function makeAll(wanted: readonly FittedRows[], store: ListedStore, signal: AbortSignal): Promise<void> {
  // In the same order everywhere, so that two sinks do not deadlock.
  const lacking = inOrder(wanted.filter(({ lacking, widened }) => lacking.length > 0 || widened.length > 0));
  for (let start = 0; start < lacking.length; start += TABLES_PER_TRANSACTION) {
    await make(lacking.slice(start, start + TABLES_PER_TRANSACTION), store, signal);
  }
}

async function make(lacking: readonly FittedRows[], store: ListedStore, signal: AbortSignal): Promise<void> {
  const { dialect, tables, log } = store;
  const created = lacking.filter(({ name }) => tables.columns(name) === undefined);
  const schemas = missingSchemas(created, store);
  const statements = [
    ...schemas.flatMap((schema) => dialect.createSchema(schema)),
    ...lacking.flatMap((table) => madeBy(table, store)),
  ];
  await defineListed(statements, created, { store, signal });
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

interface Defining {
  readonly store: ListedStore;
  readonly signal: AbortSignal;
}

/** Creates tables and lists them in one step; without listing them if the store refuses only that. */
async function defineListed(
  statements: readonly Statement[],
  created: readonly FittedRows[],
  { store, signal }: Defining,
): Promise<void> {
  const { register } = store;
  const listing = register?.statements(created) ?? [];
  try {
    await define([...statements, ...listing], store, signal);
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
    await define(statements, store, signal);
    // They are listed by themselves next: the cause may have been the connection.
    register.leave(created);
  }
}

async function define(statements: readonly Statement[], { driver }: KnownStore, signal: AbortSignal): Promise<void> {
  try {
    // Separate from the rows: MySQL commits implicitly at every definition.
    await driver.write(statements, signal);
  } catch (error) {
    // Tables that were created in some schemas only do no harm: no row is written yet.
    throw error instanceof PartlyWritten ? error.cause : error;
  }
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
