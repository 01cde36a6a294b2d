import { codeOf } from "deneb/sdk";
import { abortable, type Cell, type Driver, PartlyWritten, plain, type SchemaName, type Statement } from "deneb/sql";
import type { ServerSettings } from "../server.js";
import { PostgresqlDriver } from "./driver.js";

// Each has its own connections; those of the least recently used databases are closed.
const MOST_DATABASES = 20;
const NO_DATABASE = "3D000";
const MADE_BY_SOMEBODY_ELSE = new Set(["42P04", "23505"]);

/** The databases of a PostgreSQL server, each with its own pool. Databases of a data model are created when needed. */
export class PostgresqlServer implements Driver {
  readonly #settings: ServerSettings;
  readonly #default: PostgresqlDriver;
  /** In the order of their last use. */
  readonly #others = new Map<string, PostgresqlDriver>();
  readonly #used = new Set<string>();
  /** Databases that are known to exist. */
  readonly #existing = new Set<string>();
  readonly #closing = new Set<Promise<void>>();

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#default = new PostgresqlDriver(settings);
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#default.probe(signal);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const answers: (readonly Cell[])[] = [];
    // Not as arguments: a catalogue may have more rows than a call can have.
    for (const [database, own] of byDatabase(statements)) {
      for (const row of await this.#answers(database, own, signal)) answers.push(row);
    }
    return answers;
  }

  async *pages(statement: Statement, rows: number, signal: AbortSignal): AsyncGenerator<readonly (readonly Cell[])[]> {
    const { database } = statement.at;
    if (await this.#exists(database, signal)) yield* this.#driverOf(database).pages(statement, rows, signal);
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const written = new Set<string>();
    let bytes = 0;
    for (const [database, own] of byDatabase(statements)) {
      try {
        bytes += await this.#made(database, signal, (driver) => driver.write(own, signal));
        written.add(database);
      } catch (error) {
        throw written.size > 0 ? new PartlyWritten((unit) => written.has(unit.database), error) : error;
      }
    }
    return bytes;
  }

  async alone(statement: Statement, signal: AbortSignal): Promise<void> {
    await this.#driverOf(statement.at.database).alone(statement, signal);
  }

  async commitUnits(): Promise<readonly SchemaName[]> {
    return ["", ...this.#used].map((database) => ({ database, schema: "" }));
  }

  async close(signal: AbortSignal): Promise<void> {
    const open = [this.#default, ...this.#others.values()];
    this.#others.clear();
    // One signal for each: many listeners on one signal cause a leak warning.
    const endings = open.map((driver) => ({ driver, controller: new AbortController() }));
    const abortAll = () => {
      for (const { controller } of endings) controller.abort();
    };
    const closed = () =>
      Promise.all([...endings.map(({ driver, controller }) => driver.close(controller.signal)), ...this.#closing]);
    await abortable(signal, abortAll, closed);
  }

  /** Reading does not create a database. */
  async #answers(
    database: string,
    questions: readonly Statement[],
    signal: AbortSignal,
  ): Promise<readonly (readonly Cell[])[]> {
    if (!(await this.#exists(database, signal))) return [];
    try {
      return await this.#driverOf(database).read(questions, signal);
    } catch (error) {
      if (!this.#isGone(database, error)) throw error;
      return [];
    }
  }

  /** Runs the work in a database, which is created if it does not exist and is not that of the configuration. */
  async #made<T>(database: string, signal: AbortSignal, work: (driver: PostgresqlDriver) => Promise<T>): Promise<T> {
    if (!(await this.#exists(database, signal))) await this.#create(database, signal);
    try {
      return await work(this.#driverOf(database));
    } catch (error) {
      if (!this.#isGone(database, error)) throw error;
      await this.#create(database, signal);
      return await work(this.#driverOf(database));
    }
  }

  /**
   * Looked up once, in the database of the configuration: a pooler delays clients that connect to a missing database.
   */
  async #exists(database: string, signal: AbortSignal): Promise<boolean> {
    if (this.#isDefault(database) || this.#existing.has(database)) return true;
    const text = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1";
    const rows = await this.#default.read([{ at: { database: "", schema: "" }, text, runs: [[database]] }], signal);
    if (rows.length > 0) this.#existing.add(database);
    return rows.length > 0;
  }

  #isGone(database: string, error: unknown): boolean {
    if (this.#isDefault(database) || codeOf(error) !== NO_DATABASE) return false;
    this.#existing.delete(database);
    return true;
  }

  #isDefault(database: string): boolean {
    return database === "" || database === this.#settings.database;
  }

  async #create(database: string, signal: AbortSignal): Promise<void> {
    const name = `"${database.replaceAll('"', '""')}"`;
    try {
      await this.#default.execute(plain({ database: "", schema: "" }, `CREATE DATABASE ${name}`), signal);
    } catch (error) {
      if (!MADE_BY_SOMEBODY_ELSE.has(codeOf(error) ?? "")) throw error;
    }
  }

  #driverOf(database: string): PostgresqlDriver {
    if (this.#isDefault(database)) return this.#default;
    const known = this.#others.get(database) ?? new PostgresqlDriver({ ...this.#settings, database });
    this.#used.add(database);
    this.#others.delete(database);
    this.#others.set(database, known);
    for (const [name, driver] of [...this.#others].slice(0, -MOST_DATABASES)) this.#retire(name, driver);
    return known;
  }

  #retire(name: string, driver: PostgresqlDriver): void {
    this.#others.delete(name);
    const closing = driver.close(new AbortController().signal).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

function byDatabase(statements: readonly Statement[]): ReadonlyMap<string, readonly Statement[]> {
  const grouped = new Map<string, Statement[]>();
  for (const statement of statements) {
    const own = grouped.get(statement.at.database);
    if (own === undefined) grouped.set(statement.at.database, [statement]);
    else own.push(statement);
  }
  return grouped;
}
