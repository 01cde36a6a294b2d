import { type Context, codeOf } from "../../sdk/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { type Statement, type TableName, tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import { GrowingPauses } from "./growing-pauses.js";
import { KeptKinds, kindOf } from "./kept-kinds.js";
import { type KnownStore, learnAll } from "./known-store.js";
import { type KnownColumns, NEWER_TABLE, refuseNewerTable } from "./known-tables.js";
import { isSameLister, type Lister, listerOf } from "./lister.js";
import { Ownership } from "./ownership.js";
import {
  columnRows,
  type ListedTables,
  type Listing,
  listedTables,
  listingStatements,
  type RegisterRow,
  registerColumns,
  registerDefinition,
  registerRows,
  rowsAnywhere,
} from "./register-rows.js";

const MOST_REMEMBERED = 100_000;

type Written = Pick<TableBatch, "name" | "key" | "subject">;

/**
 * The register: a table in the database that lists the tables of the sinks. It is read together with the columns of a
 * table and written in the step that creates the table, so a known table costs nothing. Without the privilege to write
 * it, only this process knows its tables.
 */
export class Register {
  readonly #store: KnownStore;
  readonly #context: Pick<Context, "now">;
  readonly #lister: Lister;
  readonly #ownership: Ownership;
  /** Tables that this process writes to and that this sink has not listed, or has listed as another kind. */
  readonly unlisted = new Map<string, Listing>();
  readonly kinds: KeptKinds;
  /** Listed tables that lack some columns of every layout. */
  readonly #listedInPart = new Set<string>();
  /** Of refused registers. */
  readonly #pauses = new GrowingPauses();

  constructor(store: KnownStore, context: Pick<Context, "agent" | "name" | "now">) {
    this.#store = store;
    this.#context = context;
    this.#lister = listerOf(context);
    this.#ownership = new Ownership(store);
    this.kinds = new KeptKinds(store.tables, MOST_REMEMBERED);
  }

  /** Looks up all unknown tables in one query: their columns, and the sinks that have listed them. */
  async lookUp(tables: readonly Written[], signal: AbortSignal): Promise<void> {
    const unknown = tables.filter(({ name }) => this.#store.tables.columns(name) === undefined);
    if (unknown.length === 0) return;
    if (unknown.some(({ key }) => key.length > 0)) this.kinds.hasLastData = true;
    const listed = byKey(await this.#rows(unknown, signal), ({ name }) => tableKey(name));
    for (const table of unknown) this.#learn(table, listed.get(tableKey(table.name)) ?? []);
  }

  /** Throws code `TABLE_NOT_OURS` for a known table that does not belong to a sink. */
  refuseForeign({ name, key }: Written, columns: KnownColumns | undefined): void {
    this.kinds.refuseOther({ name, key });
    try {
      this.#ownership.refuseForeign(name, columns, () => this.#listedInPart.has(tableKey(name)));
    } catch (error) {
      // The next event looks it up again: the operator may have changed it.
      this.#store.tables.forget(name);
      throw error;
    }
  }

  /** The statements that list tables created in the same step, and create the register if it does not exist. */
  statements(tables: readonly Written[]): readonly Statement[] {
    const { dialect } = this.#store;
    const registers = this.#registersOf(tables);
    const listings = tables.filter(({ name }) => registers.has(tableKey(dialect.registerTable(name)))).map(listingOf);
    const missing = [...registers.values()].filter((name) => this.#store.tables.columns(name) === undefined);
    return [
      ...missing.flatMap((name) => [...dialect.createSchema(name), ...dialect.createTable(registerDefinition(name))]),
      ...listingStatements(listings, {
        lister: this.#lister,
        time: this.#context.now().toISOString(),
        dialect,
      }),
    ];
  }

  /** Called after the statements for these tables ran. */
  learnListed(tables: readonly Written[]): void {
    for (const name of this.#registersOf(tables).values()) {
      const known = this.#store.tables.columns(name) !== undefined;
      this.#store.tables.learn(name, known ? registerColumns : registerDefinition(name).columns);
    }
    for (const table of tables) {
      this.unlisted.delete(tableKey(table.name));
      this.kinds.keeps(table);
    }
    if (tables.length > 0) for (const name of this.#registersOf(tables).values()) this.#tellListed(name);
  }

  #tellListed(name: TableName): void {
    if (this.#pauses.end(tableKey(name))) this.#store.log.info({ register: name }, "tables are listed again");
  }

  /** Has the registers of these tables looked up again on next use. */
  forget(tables: readonly Written[]): void {
    for (const name of this.#registersOf(tables).values()) this.#store.tables.forget(name);
  }

  /** Called after these tables were created without being listed. */
  leave(tables: readonly Written[]): void {
    for (const table of tables) this.#setUnlisted(table);
  }

  /** After only the listing of these tables was refused. */
  #pause(tables: readonly Written[], error: unknown): void {
    for (const name of this.#registersOf(tables).values()) this.#pauseRegister(name, databaseErrorOf(error).message);
    this.leave(tables);
  }

  #pauseRegister(name: TableName, reason: string): void {
    const seconds = this.#pauses.begin(tableKey(name), this.#context.now().getTime()) / 1000;
    this.#store.log.warn({ register: name, reason, seconds }, "tables are not listed, will be tried again");
  }

  /** Lists tables that existed before this sink wrote to them. */
  async listExisting(tables: readonly Written[], signal: AbortSignal): Promise<void> {
    if (this.unlisted.size === 0) return;
    const open = tables.filter(({ name }) => this.unlisted.has(tableKey(name)));
    const statements = this.statements(open);
    if (statements.length === 0) return;
    try {
      await this.#store.driver.write(statements, signal);
      this.learnListed(open);
    } catch (error) {
      const { errors } = this.#store.dialect;
      // Created or dropped by another process: the next batch looks it up again.
      if (errors.raced(databaseErrorOf(error)) || errors.missing(databaseErrorOf(error))) return this.forget(open);
      await this.throwUnlessAnswered(error, signal);
      this.#pause(open, error);
    }
  }

  /** Throws the error if the store does not respond at all: then the register is not the cause. */
  async throwUnlessAnswered(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw error;
    await this.#store.driver.read([], signal).catch(() => {
      throw error;
    });
  }

  /** The tables of history of this sink, and all other tables that are listed. */
  async tables(signal: AbortSignal): Promise<ListedTables> {
    const lister = this.#lister;
    const unlisted = [...this.unlisted.values()].map((listing) => ({ ...listing, lister }));
    return listedTables([...unlisted, ...(await rowsAnywhere(this.#store, signal))], lister);
  }

  async #rows(tables: readonly Written[], signal: AbortSignal): Promise<readonly RegisterRow[]> {
    try {
      return await this.#ask(tables, signal);
    } catch (error) {
      this.#throwIfFinal(error, tables, signal);
      // A register was dropped, or the connection broke.
      this.forget(tables);
    }
    try {
      return await this.#ask(tables, signal);
    } catch (error) {
      this.#throwIfFinal(error, tables, signal);
      // Access to it is refused: the tables are looked up without it.
      this.forget(tables);
      const columns = await this.#store.driver.read(this.#store.dialect.catalogue(tables.map(nameOf)), signal);
      learnAll(columns, this.#store);
      if (!this.#store.dialect.errors.missing(databaseErrorOf(error))) this.#pause(tables, error);
      return [];
    }
  }

  #throwIfFinal(error: unknown, tables: readonly Written[], signal: AbortSignal): void {
    if (signal.aborted || this.#registersOf(tables).size === 0 || codeOf(error) === NEWER_TABLE) throw error;
  }

  async #ask(tables: readonly Written[], signal: AbortSignal): Promise<readonly RegisterRow[]> {
    const { driver, dialect } = this.#store;
    const registers = [...this.#registersOf(tables).values()];
    const byRegister = byKey(tables.map(nameOf), (name) => tableKey(dialect.registerTable(name)));
    const questions = (names: readonly TableName[]) =>
      names.flatMap((name) => dialect.registered(name, byRegister.get(tableKey(name)) ?? []));
    const known = registers.filter((name) => this.#store.tables.columns(name) !== undefined);
    const others = registers.filter((name) => this.#store.tables.columns(name) === undefined);
    const answer = await driver.read(
      [...dialect.catalogue([...tables.map(nameOf), ...others]), ...questions(known)],
      signal,
    );
    learnAll(columnRows(answer), this.#store);
    for (const name of registers) refuseNewerTable(name, this.#store);
    const found = others.filter((name) => this.#isRegister(name));
    const more = found.length === 0 ? [] : await driver.read(questions(found), signal);
    return registerRows([...answer, ...more]);
  }

  /** A table of that name with other columns is not used. */
  #isRegister(name: TableName): boolean {
    const columns = this.#store.tables.columns(name);
    if (columns === undefined) return false;
    if (registerColumns.every((column) => this.#store.tables.kind(name, column.name) !== undefined)) return true;
    this.#pauseRegister(name, "it has other columns");
    return false;
  }

  #learn(table: Written, rows: readonly RegisterRow[]): void {
    const key = tableKey(table.name);
    const kind = kindOf(table);
    const columns = this.#store.tables.columns(table.name);
    // A table that keeps the other kind is refused, and not listed as this one.
    if (this.kinds.learn(table, rows) !== kind || columns === undefined) return;
    if (rows.length > 0 && !this.#ownership.isWhole(columns)) this.#listedInPart.add(key);
    if (!rows.some((row) => isSameLister(row.lister, this.#lister) && row.kind === kind)) this.#setUnlisted(table);
  }

  #setUnlisted(table: Written): void {
    if (this.unlisted.size < MOST_REMEMBERED) this.unlisted.set(tableKey(table.name), listingOf(table));
  }

  /** The registers of these tables by key, without the paused ones. */
  #registersOf(tables: readonly Written[]): Map<string, TableName> {
    const now = this.#context.now().getTime();
    const all = new Map(
      tables.map(({ name }) => {
        const register = this.#store.dialect.registerTable(name);
        return [tableKey(register), register];
      }),
    );
    return new Map([...all].filter(([key]) => this.#pauses.isOver(key, now)));
  }
}

function listingOf({ name, key, subject }: Written): Listing {
  return { name, kind: kindOf({ key }), subject };
}

function byKey<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function nameOf({ name }: Pick<Written, "name">): TableName {
  return name;
}
