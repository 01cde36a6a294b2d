import { Socket } from "node:net";
import { codeOf } from "deneb/sdk";
import {
  type Cell,
  type Driver,
  databaseErrorOf,
  isUnexpectedChanges,
  notOpened,
  plain,
  type Statement,
  unansweredCommit,
  unlessAborted,
  writeAborted,
} from "deneb/sql";
import type pg from "pg";
import { isOfCertificates } from "../connection-errors.js";
import { connectBySslMode, type Encryption } from "../encryption.js";
import { type LeaseEnd, Leases, maySessionMatter } from "../leases.js";
import type { ServerSettings } from "../server.js";
import { poolConfig, wantsOtherEncryption } from "./connection-config.js";
import { isSqlState } from "./error-kinds.js";
import { postgresqlErrors } from "./errors.js";
import { held, mayBeLocked, PATIENCE_MILLIS, withHolder } from "./held-locks.js";
import { loadPg } from "./load-pg.js";
import { causeOf, runStatements, watchNotices } from "./run-statements.js";
import { WITH_EXTENSION } from "./search-path.js";
import { runTransaction } from "./session.js";
import { asked, limited, statementLimit } from "./transaction-settings.js";

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
    return await this.#namingLocks(signal, () => this.#leased(signal, (client) => this.#ask(client, statements)));
  }

  readonly #ask = async (client: pg.ClientBase, statements: readonly Statement[]) => {
    const { statements: all, ownRows } = asked(statements, this.#settings);
    const { rows } = await runStatements(client, all);
    return rows.slice(ownRows);
  };

  /** The cursor reads on one connection, in one transaction. */
  async *pages(statement: Statement, rows: number, signal: AbortSignal): AsyncGenerator<readonly (readonly Cell[])[]> {
    const { client } = await this.#connected(signal);
    const release = (how: LeaseEnd) => client.release(how === "destroy");
    const lease = this.#leases.open({ release, limitMillis: undefined, signal });
    let end: LeaseEnd = "destroy";
    try {
      const cursor = { ...statement, text: `DECLARE deneb_pages NO SCROLL CURSOR FOR ${statement.text}` };
      const opening = [plain(nowhere, "BEGIN"), plain(nowhere, WITH_EXTENSION), cursor];
      await runStatements(client, limited(opening, this.#settings));
      for (;;) {
        const page = await runStatements(client, [plain(nowhere, `FETCH ${rows} FROM deneb_pages`)]);
        if (page.rows.length === 0) break;
        yield page.rows;
      }
      await runStatements(client, [plain(nowhere, "COMMIT")]);
      end = "keep";
    } catch (error) {
      throw signal.aborted ? writeAborted() : this.#named(error);
    } finally {
      lease.end(end);
    }
  }

  /** Runs a statement that must not be part of a transaction. */
  async execute(statement: Statement, signal: AbortSignal): Promise<void> {
    await this.#namingLocks(signal, () => this.#leased(signal, (client) => runStatements(client, [statement])));
  }

  async alone(statement: Statement, signal: AbortSignal): Promise<void> {
    await this.#leased(signal, (client) => runStatements(client, [statement]), { limitMillis: undefined });
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const begin = limited([plain(nowhere, "BEGIN")], this.#settings);
    let commits = false;
    const write = async (client: pg.ClientBase) => {
      const { bytes } = await runTransaction(client, { begin, statements }, this.#ask);
      commits = true;
      // Sent separately: an abandoned write must not be committed by a server that continues.
      await runStatements(client, [plain(nowhere, "COMMIT")]);
      return bytes;
    };
    try {
      return await this.#namingLocks(signal, () => this.#leased(signal, write));
    } catch (error) {
      throw commits ? unansweredCommit(error) : error;
    }
  }

  /** What waits for a lock until it is ended does not say for which; another connection asks who holds one. */
  async #namingLocks<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !mayBeLocked(error)) throw error;
      const asking = this.#leased(signal, (client) => this.#ask(client, [held]), WHO_HOLDS);
      throw withHolder(error, await asking.catch(() => []));
    }
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

  async #leased<T>(
    signal: AbortSignal,
    work: (client: pg.PoolClient) => Promise<T>,
    { limitMillis, once = false }: Use = { limitMillis: limitOf(this.#settings) },
  ): Promise<T> {
    const { pool, client } = await this.#connected(signal);
    const { mostIdle } = this.#settings;
    const release = (how: LeaseEnd) => client.release(how === "destroy");
    const lease = this.#leases.open({ release, limitMillis, signal, remedy: STANDBY });
    try {
      const result = await lease.unlessDestroyed(work(client));
      lease.end(once || pool.idleCount >= mostIdle ? "destroy" : "keep");
      return result;
    } catch (error) {
      lease.end((await rolledBack(client, error)) ? "keep" : "destroy");
      throw signal.aborted ? writeAborted() : this.#named(causeOf(error, client));
    }
  }

  /** An error with the name of this database: a store of models with `-database` has several. */
  #named(error: unknown): unknown {
    return error instanceof Error ? Object.assign(error, { database: this.#settings.database }) : error;
  }

  async #connected(signal: AbortSignal): Promise<Connected> {
    try {
      const pool = await unlessAborted(this.#opened(), signal, ignore);
      return { pool, client: await this.#clientOf(pool, signal) };
    } catch (error) {
      throw notOpened(this.#named(error));
    }
  }

  async #clientOf(pool: pg.Pool, signal: AbortSignal): Promise<pg.PoolClient> {
    try {
      return await unlessAborted(pool.connect(), signal, (client) => client.release());
    } catch (error) {
      // The files of certificates may have been replaced since the pool was opened.
      if (wantsOtherEncryption(error) || isOfCertificates({ code: codeOf(error) })) await this.#forget(pool);
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
    const { Client, Pool } = await loadPg();
    const connect = async (way: Encryption) => {
      const stream = () => this.#leases.connecting(new Socket());
      const pool = new Pool({ ...poolConfig(this.#settings, way), stream, Client });
      // A broken idle connection is removed from the pool; the next write opens another one.
      pool.on("error", ignore);
      pool.on("connect", watchNotices);
      try {
        (await pool.connect()).release();
        return pool;
      } catch (error) {
        await pool.end();
        throw error;
      }
    };
    return await connectBySslMode(this.#settings.options, { connect, wantsOther: wantsOtherEncryption });
  }
}

interface Connected {
  readonly pool: pg.Pool;
  readonly client: pg.PoolClient;
}

interface Use {
  readonly limitMillis: number | undefined;
  /** The connection is not kept. */
  readonly once?: boolean;
}

/** The next try has a new connection, which has the settings of its time. */
const WHO_HOLDS: Use = { limitMillis: PATIENCE_MILLIS, once: true };

const STANDBY = ", and see whether a synchronous standby is away: a commit waits for it";

const nowhere = { database: "", schema: "" } as const;

/** The server enforces the statement time-out; the lease ends if the server does not respond at all. */
function limitOf(settings: ServerSettings): number | undefined {
  const limit = statementLimit(settings);
  return limit === 0 ? undefined : limit + settings.connectTimeoutMillis;
}

/** True if the connection can be used again after the error. */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (!isUnexpectedChanges(error)) {
    if (!isSqlState(codeOf(error)) || maySessionMatter(databaseErrorOf(error), postgresqlErrors)) return false;
  }
  try {
    await runStatements(client, [plain(nowhere, "ROLLBACK")]);
    return true;
  } catch {
    // The first error is reported.
    return false;
  }
}

function ignore(): void {}
