import { codeOf } from "deneb/sdk";
import {
  type Cell,
  type Driver,
  isUnexpectedChanges,
  plain,
  type Statement,
  unlessAborted,
  writeAborted,
} from "deneb/sql";
import type pg from "pg";
import { type LeaseEnd, Leases } from "../lease.js";
import type { ServerSettings } from "../server.js";
import { type Encryption, encrypted } from "../tls.js";
import { limited, poolConfig, statementLimit, wantsOtherEncryption } from "./connection.js";
import { isSqlState } from "./errors.js";
import { type PipelineResult, PostgresqlPipeline } from "./pipeline.js";

/** One database of a PostgreSQL server, accessed by a pool of connections. */
export class PostgresqlDriver implements Omit<Driver, "commitUnits"> {
  readonly #settings: ServerSettings;
  readonly #leases = new Leases();
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

  /** Runs a statement that must not be part of a transaction. */
  async execute(statement: Statement, signal: AbortSignal): Promise<void> {
    await this.#leased(signal, (client) => answered(client, [statement]));
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const { statements: all } = limited([plain(nowhere, "BEGIN"), ...statements], this.#settings);
    return await this.#leased(signal, async (client) => {
      const { bytes } = await answered(client, all);
      // Sent separately: an abandoned write must not be committed by a server that continues.
      await answered(client, [plain(nowhere, "COMMIT")]);
      return bytes;
    });
  }

  async close(signal: AbortSignal): Promise<void> {
    const opened = this.#pool;
    this.#pool = undefined;
    await this.#leases.closing(signal, async () => {
      // A pool that could not be opened has nothing to close; whoever waits for it gets the error.
      const pool = await opened?.catch(() => undefined);
      await pool?.end();
    });
  }

  async #leased<T>(signal: AbortSignal, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const pool = await unlessAborted(this.#opened(), signal, ignore);
    const client = await this.#connected(pool, signal);
    const { mostIdle } = this.#settings;
    const release = (how: LeaseEnd) => client.release(how === "destroy");
    const lease = this.#leases.open({ release, limitMillis: limitOf(this.#settings), signal });
    try {
      const result = await work(client);
      lease.end(pool.idleCount >= mostIdle ? "destroy" : "keep");
      return result;
    } catch (error) {
      lease.end((await rolledBack(client, error)) ? "keep" : "destroy");
      throw signal.aborted ? writeAborted() : error;
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

  /** The first connection determines which of the allowed encryptions the server accepts; the pool keeps it. */
  async #open(): Promise<pg.Pool> {
    const { Pool } = (await import("pg")).default; // Only where PostgreSQL is used: it is large.
    const connect = async (way: Encryption) => {
      const pool = new Pool(poolConfig(this.#settings, way));
      // A broken idle connection is removed from the pool; the next write opens another one.
      pool.on("error", ignore);
      // A running query gets the same error. The server may close a connection at any moment; without a listener the
      // error would end the process.
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

/** The server enforces the statement time-out; the lease ends if the server does not respond at all. */
function limitOf(settings: ServerSettings): number | undefined {
  const limit = statementLimit(settings);
  return limit === 0 ? undefined : limit + settings.connectTimeoutMillis;
}

async function answered(client: pg.PoolClient, statements: readonly Statement[]): Promise<PipelineResult> {
  return await client.query(new PostgresqlPipeline(statements)).done;
}

/** True if the connection can be used again after the error. */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (!isSqlState(codeOf(error)) && !isUnexpectedChanges(error)) return false;
  try {
    await answered(client, [plain(nowhere, "ROLLBACK")]);
    return true;
  } catch {
    // The first error is reported.
    return false;
  }
}

function ignore(): void {}
