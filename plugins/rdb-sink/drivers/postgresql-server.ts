import { codeOf, onAbort } from "deneb/sdk";
import { type Cell, plain, type Statement } from "../statement.js";
import type { SchemaName } from "../table-name.js";
import { type Driver, PartlyWritten } from "./driver.js";
import { PostgresqlDriver } from "./postgresql.js";
import type { ServerSettings } from "./server-settings.js";

// Each has connections of its own; those of a database that was not used for long are closed.
const MOST_DATABASES = 20;
const NO_DATABASE = "3D000";
const MADE_BY_SOMEBODY_ELSE = new Set(["42P04", "23505"]);

/** The databases of a PostgreSQL server, each through a pool of its own. Those that a data model asks for are made. */
export class PostgresqlServer implements Driver {
  readonly #settings: ServerSettings;
  readonly #home: PostgresqlDriver;
  /** In the order of their last use. */
  readonly #others = new Map<string, PostgresqlDriver>();
  readonly #used = new Set<string>();
  /** Databases that were there when they were asked for. */
  readonly #existing = new Set<string>();
  readonly #closing = new Set<Promise<void>>();

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#home = new PostgresqlDriver(settings);
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#home.probe(signal);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const answers: (readonly Cell[])[] = [];
    for (const [database, own] of byDatabase(statements)) {
      answers.push(...(await this.#answers(database, own, signal)));
    }
    return answers;
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const written = new Set<string>();
    let bytes = 0;
    for (const [database, own] of byDatabase(statements)) {
      try {
        bytes += await this.#made(database, signal, (driver) => driver.write(own, signal));
        written.add(database);
      } catch (error) {
        throw written.size > 0 ? new PartlyWritten((place) => written.has(place.database), error) : error;
      }
    }
    return bytes;
  }

  async places(): Promise<readonly SchemaName[]> {
    return ["", ...this.#used].map((database) => ({ database, schema: "" }));
  }

  async close(signal: AbortSignal): Promise<void> {
    const open = [this.#home, ...this.#others.values()];
    this.#others.clear();
    // A signal of its own for each: one that many listen to is taken for a leak.
    const endings = open.map((driver) => ({ driver, giveUp: new AbortController() }));
    const stopListening = onAbort(signal, () => {
      for (const ending of endings) ending.giveUp.abort();
    });
    await Promise.all([...endings.map((ending) => ending.driver.close(ending.giveUp.signal)), ...this.#closing]);
    stopListening();
  }

  /** To ask is no reason to make a database. */
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

  /** Does the work in a database, which is made when it is not there and not that of the configuration. */
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

  /** Asked once, in the database of the configuration: a pooler lets those wait who connect to one that is not there. */
  async #exists(database: string, signal: AbortSignal): Promise<boolean> {
    if (this.#isHome(database) || this.#existing.has(database)) return true;
    const text = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1";
    const rows = await this.#home.read([{ at: { database: "", schema: "" }, text, runs: [[database]] }], signal);
    if (rows.length > 0) this.#existing.add(database);
    return rows.length > 0;
  }

  #isGone(database: string, error: unknown): boolean {
    if (this.#isHome(database) || codeOf(error) !== NO_DATABASE) return false;
    this.#existing.delete(database);
    return true;
  }

  #isHome(database: string): boolean {
    return database === "" || database === this.#settings.database;
  }

  async #create(database: string, signal: AbortSignal): Promise<void> {
    const name = `"${database.replaceAll('"', '""')}"`;
    try {
      await this.#home.execute(plain({ database: "", schema: "" }, `CREATE DATABASE ${name}`), signal);
    } catch (error) {
      if (!MADE_BY_SOMEBODY_ELSE.has(codeOf(error) ?? "")) throw error;
    }
  }

  #driverOf(database: string): PostgresqlDriver {
    if (this.#isHome(database)) return this.#home;
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
