import { codeOf, onAbort } from "deneb/sdk";
import type pg from "pg";
import { isSqlState } from "../dialects/postgresql-faults.js";
import { type Cell, plain, type Statement } from "../statement.js";
import { type Driver, isUnexpectedChanges, unlessAborted, writeAborted } from "./driver.js";
import { type Encryption, encrypted } from "./encryption.js";
import { Lease, type LeaseEnd } from "./lease.js";
import { poolConfig, wantsOtherEncryption } from "./postgresql-client.js";
import { limited, statementLimit } from "./postgresql-limit.js";
import { type PipelineResult, PostgresqlPipeline } from "./postgresql-pipeline.js";
import type { ServerSettings } from "./server-settings.js";

/** One database of a PostgreSQL server through a pool of connections. */
export class PostgresqlDriver implements Omit<Driver, "places"> {
  readonly #settings: ServerSettings;
  readonly #leases = new Set<Lease>();
  #pool: Promise<pg.Pool> | undefined;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.read([], signal);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const { statements: all, ownRows } = limited(statements, this.#settings);
    const { rows } = await this.#leased(signal, (client) => answered(client, all));
    return rows.slice(ownRows);
  }

  /** Runs a statement that no transaction may hold. */
  async execute(statement: Statement, signal: AbortSignal): Promise<void> {
    await this.#leased(signal, (client) => answered(client, [statement]));
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const { statements: all } = limited([plain(nowhere, "BEGIN"), ...statements], this.#settings);
    return await this.#leased(signal, async (client) => {
      const { bytes } = await answered(client, all);
      // Apart from the rest: a write that is given up while it waits must not be committed by a server that goes on.
      await answered(client, [plain(nowhere, "COMMIT")]);
      return bytes;
    });
  }

  async close(signal: AbortSignal): Promise<void> {
    const opened = this.#pool;
    this.#pool = undefined;
    const stopListening = onAbort(signal, () => this.#giveUp());
    // A pool that never opened has nothing to close; whoever waits for it gets its error.
    const pool = await opened?.catch(() => undefined);
    await pool?.end();
    stopListening();
  }

  #giveUp(): void {
    for (const lease of this.#leases) lease.destroy();
  }

  async #leased<T>(signal: AbortSignal, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const pool = await unlessAborted(this.#opened(), signal, ignore);
    const client = await this.#connected(pool, signal);
    const { mostIdle } = this.#settings;
    const release = (how: LeaseEnd) => client.release(how === "destroy");
    const lease = new Lease({ release, limitMillis: limitOf(this.#settings), signal });
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
    const { Pool } = (await import("pg")).default; // Only where PostgreSQL is used: it is large.
    const connect = async (way: Encryption) => {
      const pool = new Pool(poolConfig(this.#settings, way));
      // An idle connection that breaks has left the pool already; the next write opens another.
      pool.on("error", ignore);
      // Whatever runs gets the same error. The server may end a connection at any moment, also while it is handed over
      // or just thrown away: a client without a listener would throw that out of the process.
      pool.on("connect", (client) => client.on("error", ignore));
      try {
        (await pool.connect()).release();
        return pool;
      } catch (error) {
        await pool.end();
        throw error;
      }
    };
    return await encrypted(this.#settings.options, { connect, wantsOther: wantsOtherEncryption });
  }
}

const nowhere = { database: "", schema: "" } as const;

/** The server ends a statement at its limit; the lease ends when the server does not answer at all. */
function limitOf(settings: ServerSettings): number | undefined {
  const limit = statementLimit(settings);
  return limit === 0 ? undefined : limit + settings.connectTimeoutMillis;
}

async function answered(client: pg.PoolClient, statements: readonly Statement[]): Promise<PipelineResult> {
  return await client.query(new PostgresqlPipeline(statements)).done;
}

/** True when the connection is fit for another use after the error. */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (!isSqlState(codeOf(error)) && !isUnexpectedChanges(error)) return false;
  try {
    await answered(client, [plain(nowhere, "ROLLBACK")]);
    return true;
  } catch {
    // The error that led here is the one to report.
    return false;
  }
}

function ignore(): void {}
