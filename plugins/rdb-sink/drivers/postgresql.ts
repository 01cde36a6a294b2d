import { codeOf } from "deneb/sdk";
import pg from "pg";
import { isSqlState } from "../dialects/postgresql-faults.js";
import { type Cell, plain, type Statement } from "../statement.js";
import { type Driver, unlessAborted, writeAborted } from "./driver.js";
import { PostgresqlLease } from "./postgresql-lease.js";
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
  readonly #leases = new Set<PostgresqlLease>();
  #pool: Promise<pg.Pool> | undefined;

  constructor(settings: PostgresqlSettings) {
    this.#settings = settings;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.read([], signal);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const { rows } = await this.#leased(signal, (client) => answered(client, statements));
    return rows;
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    return await this.#leased(signal, async (client) => {
      const { bytes } = await answered(client, [plain("", "BEGIN"), ...statements]);
      // Apart from the rest: a write that is given up while it waits must not be committed by a server that goes on.
      await answered(client, [plain("", "COMMIT")]);
      return bytes;
    });
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
    for (const lease of this.#leases) lease.destroy();
  }

  async #leased<T>(signal: AbortSignal, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const pool = await unlessAborted(this.#opened(), signal, ignore);
    const client = await this.#connected(pool, signal);
    const { statementTimeoutMillis: limit, connectTimeoutMillis: grace, mostIdle } = this.#settings;
    // The server ends a statement at its limit; the lease ends when the server does not answer at all.
    const lease = new PostgresqlLease(client, limit === 0 ? undefined : limit + grace, signal);
    this.#leases.add(lease);
    try {
      const result = await work(client);
      lease.end(pool.idleCount >= mostIdle ? "destroy" : "keep");
      return result;
    } catch (error) {
      lease.end((await rolledBack(client, error)) ? "keep" : "destroy");
      throw signal.aborted ? writeAborted() : error;
    } finally {
      this.#leases.delete(lease);
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

async function answered(client: pg.PoolClient, statements: readonly Statement[]): Promise<PipelineResult> {
  return await client.query(new PostgresqlPipeline(statements)).done;
}

/** True when the connection is fit for another use after the error. */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (!isSqlState(codeOf(error))) return false;
  try {
    await answered(client, [plain("", "ROLLBACK")]);
    return true;
  } catch {
    // The error that led here is the one to report.
    return false;
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
