import { type BatchPosition, type Event, letterHeader, type Receipt } from "../sdk/index.js";
import { databaseErrorOf } from "./contract/database-error.js";
import { isUnexpectedChanges } from "./contract/driver.js";
import { statementOf } from "./contract/noted-errors.js";
import { bytesOf, type Statement, tableKey } from "./contract/statement.js";
import type { Bookkeeping, Kept } from "./features/positions/bookkeeping.js";
import type { RowBuilder } from "./row-builder.js";
import type { Step, TableBatch } from "./rows/grouping.js";
import { ChangedTables } from "./tables/changed-tables.js";
import { type FittedRows, fittedToKnown } from "./tables/fitting.js";
import { type ListedStore, makeMissing } from "./tables/make-missing.js";
import { makePartitionsFor } from "./tables/make-partitions.js";
import type { WrittenTables } from "./tables/table-life.js";

/** One transaction of a batch, or one for each of its commit units. */
export interface StepOfBatch extends Step {
  readonly position: BatchPosition | undefined;
}

interface StepWriterParts {
  readonly store: ListedStore;
  readonly rowBuilder: RowBuilder;
  readonly bookkeeping: Bookkeeping;
  /** Absent if no partitions are made ahead of time. */
  readonly writtenTables: WrittenTables | undefined;
}

// Another process may drop or detach a partition that was just made.
const MOST_ATTEMPTS = 3;
/** No statement changes this number of rows, so the transaction is rolled back. */
const NEVER_CHANGED = -1;
const MOST_REMEMBERED = 16;

/** An event that was written to the table with this key. */
interface Remembered {
  readonly key: string;
  readonly event: Event;
}

interface Prepared {
  /** The statements of each table. */
  readonly byTable: readonly (readonly Statement[])[];
  readonly rows: readonly Statement[];
  readonly kept: Kept;
}

/** Writes the rows of one transaction: creates what is missing, then sends rows and bookkeeping together. */
export class StepWriter {
  readonly #store: ListedStore;
  readonly #rowBuilder: RowBuilder;
  readonly #bookkeeping: Bookkeeping;
  readonly #writtenTables: WrittenTables | undefined;
  readonly #changed: ChangedTables;
  /** Of statements that the database refused. */
  readonly #tables = new WeakMap<Statement, TableBatch>();
  // No map: its tables would hold the events that were left out (docs/decisions/0086).
  #lately: readonly Remembered[] = [];

  constructor({ store, rowBuilder, bookkeeping, writtenTables }: StepWriterParts) {
    this.#writtenTables = writtenTables;
    this.#store = store;
    this.#rowBuilder = rowBuilder;
    this.#bookkeeping = bookkeeping;
    this.#changed = new ChangedTables(store);
  }

  /** An event of each of the tables that took rows last, the newest at the end. */
  get lately(): readonly Event[] {
    return this.#lately.map(({ event }) => event);
  }

  /**
   * Another process may have dropped a known table, created a typed column with another type, or changed the type of one: then everything
   * is looked up and created once more.
   */
  async write(write: StepOfBatch, signal: AbortSignal): Promise<Receipt> {
    const { tables } = write;
    try {
      return await this.#writePartitioned(write, signal);
    } catch (error) {
      if (!(await this.#isStale(error, tables, signal))) throw error;
      for (const { name } of tables) {
        this.#store.tables.forget(name);
        this.#store.tables.forget(this.#store.dialect.positionsTable(name));
      }
      return await this.#writePartitioned(write, signal);
    }
  }

  /** The first row of a partition is refused by the database; then the partition is made. */
  async #writePartitioned(write: StepOfBatch, signal: AbortSignal): Promise<Receipt> {
    const { life, dialect } = this.#store;
    const { partitions: statements } = dialect;
    for (let attempt = 1; ; attempt++) {
      try {
        const receipt = await this.#writeOnce(write, signal);
        for (const { name, key } of write.tables) if (key.length === 0) this.#writtenTables?.add(name);
        return receipt;
      } catch (error) {
        if (statements?.missing(databaseErrorOf(error)) !== true || attempt === MOST_ATTEMPTS) throw error;
        await makePartitionsFor(write.tables, { store: this.#store, life, statements }, signal);
      }
    }
  }

  async #isStale(error: unknown, tables: readonly TableBatch[], signal: AbortSignal): Promise<boolean> {
    const { errors } = this.#store.dialect;
    const databaseError = databaseErrorOf(error);
    if (errors.missing(databaseError)) return true;
    if (errors.retryable(databaseError)) return false;
    return (
      tables.some(({ native }) => native.size > 0) ||
      (await this.#changed.areAmong(
        tables.map(({ name }) => name),
        signal,
      ))
    );
  }

  /** Undefined if tables may have to be created, or listed in the register. */
  #known(tables: readonly TableBatch[]): readonly FittedRows[] | undefined {
    const { register } = this.#store;
    if (register !== undefined && (register.kinds.hasLastData || register.unlisted.size > 0)) return undefined;
    return fittedToKnown(tables, this.#store);
  }

  /** Whether the store takes these rows now, with all that belongs to them: they are written and rolled back. */
  async takes(write: StepOfBatch, signal: AbortSignal): Promise<boolean> {
    const { rows, byTable, kept } = await this.#statements(write, signal);
    const statements = rolledBack([...rows, ...kept.statements]);
    if (statements.length === 0) return false;
    try {
      await this.#store.driver.write(statements, signal);
      return false;
    } catch (error) {
      if (isUnexpectedChanges(error)) return true;
      this.#noteTable(error, write.tables, byTable);
      throw error;
    }
  }

  async #writeOnce(write: StepOfBatch, signal: AbortSignal): Promise<Receipt> {
    const { rows, byTable, kept } = await this.#statements(write, signal);
    let responseBytes: number;
    try {
      responseBytes = await this.#store.driver.write([...rows, ...kept.statements], signal);
    } catch (error) {
      this.#noteTable(error, write.tables, byTable);
      throw error;
    }
    await kept.written();
    this.#remember(write.tables);
    return { requestBytes: bytesOf(rows), responseBytes };
  }

  /** The table whose rows the database refused; undefined if that is not known. */
  refusedTable(error: unknown): TableBatch | undefined {
    const statement = statementOf(error);
    return statement && this.#tables.get(statement);
  }

  #noteTable(error: unknown, tables: readonly TableBatch[], byTable: Prepared["byTable"]): void {
    const statement = statementOf(error);
    const table = statement && tables[byTable.findIndex((some) => some.some((one) => isPartOf(statement, one)))];
    if (statement !== undefined && table !== undefined) this.#tables.set(statement, table);
  }

  /** The first and the last table: they are in order, so those are often of two schemas. */
  #remember(tables: readonly TableBatch[]): void {
    for (const table of new Set([tables[0], tables.at(-1)])) {
      const event = table?.placed.at(-1)?.event;
      if (table === undefined || event === undefined || event.headers[letterHeader] !== undefined) continue;
      const key = tableKey(table.name);
      const others = this.#lately.filter((one) => one.key !== key);
      this.#lately = [...others, { key, event }].slice(-MOST_REMEMBERED);
    }
  }

  async #statements({ position, ...step }: StepOfBatch, signal: AbortSignal): Promise<Prepared> {
    const { tables } = step;
    this.#rowBuilder.refresh(tables, this.#store);
    const fitted = this.#known(tables) ?? (await makeMissing(tables, this.#store, signal));
    const byTable = tables.map((table, index) => {
      const own = fitted[index];
      return own === undefined ? [] : this.#rowBuilder.statements(table, own, this.#store);
    });
    return { byTable, rows: byTable.flat(), kept: await this.#bookkeeping.kept(position, step, signal) };
  }
}

/** Whether it is this statement, or one with some of its runs. */
function isPartOf(part: Statement, { text, runs }: Statement): boolean {
  const [run] = part.runs;
  return part.text === text && (run === undefined || runs.includes(run));
}

/** The same statements, of which the last run changes an unexpected number of rows. */
function rolledBack(statements: readonly Statement[]): readonly Statement[] {
  const last = statements.at(-1);
  if (last === undefined) return statements;
  const before = last.runs.length === 1 ? [] : [{ ...last, runs: last.runs.slice(0, -1) }];
  return [...statements.slice(0, -1), ...before, { ...last, runs: last.runs.slice(-1), changes: NEVER_CHANGED }];
}
