import { entityOf, eventHeaders } from "../../ngsi/index.js";
import type { Context } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { RecentMap } from "../contract/recent-map.js";
import { joinedRuns, type Statement, type TableName, tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import { GrowingPauses } from "./growing-pauses.js";
import { hasPassed, type KnownStore, lookUp } from "./known-store.js";
import { listerOf, listerText } from "./lister.js";
import { factColumns, LAST_WRITE, registerKey, type TableKind } from "./register-rows.js";

const HOUR = 3_600_000;
const MOST_REMEMBERED = 100_000;
const MOST_WAITING = 10_000;
const ROWS_AT_ONCE = 500;
/** After the first fact: those of the tables that follow at once are written with it. */
const DELAY_MILLIS = 2000;

/** What the catalogue says of a table besides its name. */
interface Facts {
  readonly name: TableName;
  readonly kind: TableKind;
  readonly subject: string;
  readonly entityType: string;
  readonly service: string | undefined;
  readonly servicePath: string | undefined;
  readonly lastWrite: string;
}

interface FactOptions {
  readonly dataModel: string;
  /** Told of each table whose facts were due. */
  readonly noted?: ((name: TableName) => void) | undefined;
}

/**
 * Keeps the facts about the tables of a sink in the register: at most once an hour for each table, and never in the
 * transaction of rows. A table that is not due costs a write one lookup. Without the right to alter or to write a
 * register, its facts are absent.
 */
export class TableFacts {
  readonly #store: KnownStore;
  readonly #context: Pick<Context, "agent" | "name" | "now">;
  readonly #options: FactOptions;
  /** When the facts of a table were noted. */
  readonly #noted = new RecentMap<number>(MOST_REMEMBERED);
  readonly #waiting = new Map<string, Facts>();
  /** Of registers that were refused. */
  readonly #pauses = new GrowingPauses();
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** Runs until the end of the first pause of a register whose facts wait. */
  #retry: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(store: KnownStore, context: Pick<Context, "agent" | "name" | "now">, options: FactOptions) {
    this.#store = store;
    this.#context = context;
    this.#options = options;
  }

  /** Notes that rows of these tables are stored. */
  note(tables: readonly TableBatch[]): void {
    const now = this.#context.now().getTime();
    for (const table of tables) {
      const key = tableKey(table.name);
      if (!hasPassed(HOUR, this.#noted.get(key), now)) continue;
      const facts = this.#waiting.size < MOST_WAITING ? factsOf(table, now) : undefined;
      if (facts === undefined) continue;
      this.#noted.set(key, now);
      this.#waiting.set(key, facts);
      this.#options.noted?.(table.name);
      this.#timer ??= setTimeout(() => void this.flush(this.#ending.signal), DELAY_MILLIS).unref();
    }
  }

  /** Writes what waits now. A failure is only logged: rows are more important. */
  async flush(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#working = this.#working.then(() => this.#write(signal));
    await this.#working;
  }

  /** Writes what waits; ends it if the signal is aborted. */
  async stop(signal: AbortSignal): Promise<void> {
    await this.flush(signal);
    this.#ending.abort();
    clearTimeout(this.#retry);
  }

  async #write(signal: AbortSignal): Promise<void> {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    let soonest = Number.POSITIVE_INFINITY;
    for (let start = 0; start < all.length && !signal.aborted; start += ROWS_AT_ONCE) {
      const byRegister = new Map<string, { readonly register: TableName; readonly facts: Facts[] }>();
      for (const facts of all.slice(start, start + ROWS_AT_ONCE)) {
        const register = this.#store.dialect.registerTable(facts.name);
        const one = byRegister.get(tableKey(register)) ?? { register, facts: [] };
        byRegister.set(tableKey(register), one);
        one.facts.push(facts);
      }
      for (const { register, facts } of byRegister.values()) {
        await this.#writeTo(register, facts, signal);
        soonest = Math.min(soonest, this.#pauses.left(tableKey(register), this.#now()) || soonest);
      }
    }
    clearTimeout(this.#retry);
    if (soonest < Number.POSITIVE_INFINITY && !this.#ending.signal.aborted)
      this.#retry = setTimeout(() => void this.flush(this.#ending.signal), soonest).unref();
  }

  async #writeTo(register: TableName, facts: readonly Facts[], signal: AbortSignal): Promise<void> {
    const now = this.#now();
    const key = tableKey(register);
    if (!this.#pauses.isOver(key, now)) return this.#keep(facts);
    try {
      if (!(await this.#isComplete(register, signal))) return;
      await this.#store.driver.write(joinedRuns(facts.map((one) => this.#statement(register, one))), signal);
      if (this.#pauses.end(key)) this.#store.log.info({ register }, "facts about tables are listed again");
    } catch (error) {
      if (signal.aborted) return;
      this.#store.tables.forget(register);
      const databaseError = databaseErrorOf(error);
      const { errors } = this.#store.dialect;
      if (errors.missing(databaseError) || errors.raced(databaseError)) return this.#again(facts);
      this.#keep(facts);
      const seconds = this.#pauses.begin(key, now) / 1000;
      this.#store.log.warn(
        { register, reason: databaseError.message, seconds },
        "facts about tables are not listed, will be tried again",
      );
    }
  }

  #now(): number {
    return this.#context.now().getTime();
  }

  /** They wait until the pause is over: a table may get no further row. */
  #keep(facts: readonly Facts[]): void {
    for (const one of facts) {
      const key = tableKey(one.name);
      if (!this.#waiting.has(key) && this.#waiting.size < MOST_WAITING) this.#waiting.set(key, one);
    }
  }

  /** The next rows of these tables note their facts again. */
  #again(facts: readonly Facts[]): void {
    for (const { name } of facts) this.#noted.delete(tableKey(name));
  }

  /** Adds the columns that a register of an earlier version lacks. False without a register. */
  async #isComplete(register: TableName, signal: AbortSignal): Promise<boolean> {
    const { tables, dialect, driver } = this.#store;
    await lookUp([register], this.#store, signal);
    if (tables.columns(register) === undefined) return false;
    const lacking = factColumns.filter(({ name }) => tables.kind(register, name) === undefined);
    if (lacking.length === 0) return true;
    await driver.write(dialect.addColumns(register, lacking), signal);
    tables.learn(register, lacking);
    return true;
  }

  #statement(register: TableName, facts: Facts): Statement {
    const { name, kind, subject, entityType, service, servicePath, lastWrite } = facts;
    return this.#store.dialect.upsert({
      name: register,
      columns: [
        ...registerKey.map((column) => ({ name: column, kind: "text" }) as const),
        { name: "kind", kind: "text" },
        { name: "subject", kind: "longtext" },
        ...factColumns,
      ],
      cells: [
        name.schema,
        name.table,
        listerText(listerOf(this.#context)),
        kind,
        subject,
        this.#options.dataModel,
        entityType,
        service,
        servicePath,
        lastWrite,
      ],
      key: registerKey,
      time: LAST_WRITE,
      timeFormat: undefined,
      members: undefined,
    });
  }
}

function factsOf({ name, key, subject, placed }: TableBatch, now: number): Facts | undefined {
  const event = placed.at(-1)?.event;
  if (event === undefined) return undefined;
  return {
    name,
    kind: key.length === 0 ? "history" : "last data",
    subject,
    entityType: entityOf(event).type,
    service: event.headers[eventHeaders.service],
    servicePath: event.headers[eventHeaders.servicePath],
    lastWrite: new Date(now).toISOString(),
  };
}
