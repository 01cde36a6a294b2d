import { codeOf } from "deneb/sdk";
import pg from "pg";
import { isSqlState } from "../dialects/postgresql-faults.js";
import type { Cell, Statement } from "../statement.js";
import { type Driver, unlessAborted, writeAborted } from "./driver.js";
import type { PostgresqlOptions } from "./postgresql-options.js";
import { type PipelineResult, PostgresqlPipeline } from "./postgresql-pipeline.js";
import { type Encryption, encrypted, wantsOtherEncryption } from "./postgresql-tls.js";

export interface PostgresqlSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly username: string;
  readonly password: string;
  readonly options: PostgresqlOptions;
  readonly mostConnections: number;
  readonly mostIdle: number;
  readonly leastIdle: number;
  readonly idleMillis: number;
  readonly connectTimeoutMillis: number;
  /** 0 waits for ever. */
  readonly statementTimeoutMillis: number;
}

/** PostgreSQL through a pool of connections. */
export class PostgresqlDriver implements Driver {
  readonly #settings: PostgresqlSettings;
  readonly #leased = new Set<() => void>();
  #pool: Promise<pg.Pool> | undefined;

  constructor(settings: PostgresqlSettings) {
    this.#settings = settings;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#run([], signal);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    return (await this.#run(statements, signal)).rows;
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    return (await this.#run(statements, signal)).bytes;
  }

  async close(signal: AbortSignal): Promise<void> {
    const opened = this.#pool;
    this.#pool = undefined;
    const giveUp = () => this.#giveUp();
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    // A pool that never opened has nothing to close; whoever waits for it gets its error.
    const pool = await opened?.catch(() => undefined);
    await pool?.end();
    signal.removeEventListener("abort", giveUp);
  }

  #giveUp(): void {
    for (const destroy of this.#leased) destroy();
  }

  async #run(statements: readonly Statement[], signal: AbortSignal): Promise<PipelineResult> {
    const pool = await unlessAborted(this.#opened(), signal, ignore);
    const client = await this.#connected(pool, signal);
    return await this.#used(client, pool, statements, signal);
  }

  async #used(client: pg.PoolClient, pool: pg.Pool, statements: readonly Statement[], signal: AbortSignal) {
    let returned = false;
    const giveBack = (broken: boolean) => {
      if (returned) return;
      returned = true;
      client.release(broken);
    };
    const destroy = () => giveBack(true);
    const { statementTimeoutMillis: limit, connectTimeoutMillis: grace, mostIdle } = this.#settings;
    // The server ends a statement at its limit; this is for a server that does not answer at all.
    const timer = limit === 0 ? undefined : setTimeout(destroy, limit + grace);
    this.#leased.add(destroy);
    signal.addEventListener("abort", destroy, { once: true });
    // The pipeline gets the same error; without a listener the client would throw it out of the process.
    client.on("error", ignore);
    try {
      const result = await client.query(new PostgresqlPipeline(statements)).done;
      giveBack(pool.idleCount >= mostIdle);
      return result;
    } catch (error) {
      giveBack(!isSqlState(codeOf(error)));
      throw signal.aborted ? writeAborted() : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", destroy);
      this.#leased.delete(destroy);
      client.off("error", ignore);
    }
  }

  async #connected(pool: pg.Pool, signal: AbortSignal): Promise<pg.PoolClient> {
    try {
      return await unlessAborted(pool.connect(), signal, (client) => client.release());
    } catch (error) {
      if (wantsOtherEncryption(error)) await this.#forget(pool);
      throw error;
    }
  }

  async #forget(pool: pg.Pool): Promise<void> {
    this.#pool = undefined;
    if (!pool.ending) await pool.end();
  }

  #opened(): Promise<pg.Pool> {
    this.#pool ??= this.#open().catch((error: unknown) => {
      this.#pool = undefined;
      throw error;
    });
    return this.#pool;
  }

  /** The first connection finds out which of the allowed encryptions the server takes; the pool then stays with it. */
  async #open(): Promise<pg.Pool> {
    return await encrypted(this.#settings.options, async (way) => {
      const pool = new pg.Pool(poolConfig(this.#settings, way));
      // An idle connection that breaks has left the pool already; the next write opens another.
      pool.on("error", ignore);
      try {
        (await pool.connect()).release();
        return pool;
      } catch (error) {
        await pool.end();
        throw error;
      }
    });
  }
}

/** The settings of one connection in the words of `pg`. */
export function clientConfig(settings: PostgresqlSettings, encryption: Encryption): pg.ClientConfig {
  return {
    host: settings.host,
    port: settings.port,
    database: settings.database,
    user: settings.username,
    // As a function: with an empty text `pg` would look for PGPASSWORD and a password file.
    password: () => settings.password,
    ssl: encryption,
    application_name: settings.options.applicationName ?? "deneb",
    statement_timeout: settings.statementTimeoutMillis,
    connectionTimeoutMillis: settings.options.connectTimeoutMillis ?? settings.connectTimeoutMillis,
    keepAlive: true,
  };
}

function poolConfig(settings: PostgresqlSettings, encryption: Encryption): pg.PoolConfig {
  return {
    ...clientConfig(settings, encryption),
    max: settings.mostConnections,
    min: settings.leastIdle,
    idleTimeoutMillis: settings.idleMillis,
  };
}

function ignore(): void {}
