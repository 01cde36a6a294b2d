import { connect } from "node:net";
import { codeOf } from "deneb/sdk";
import {
  type Cell,
  type Driver,
  databaseErrorOf,
  isUnexpectedChanges,
  notOpened,
  type SchemaName,
  type Statement,
  unlessAborted,
  writeAborted,
} from "deneb/sql";
import type { Connection } from "mysql2/promise";
import { connectBySslMode } from "../encryption.js";
import { type LeaseEnd, Leases, maySessionMatter } from "../leases.js";
import type { ServerSettings } from "../server.js";
import { type ColumnRules, columnRules, USUAL } from "./column-keys.js";
import { connectionOptions, SESSION, wantsOtherEncryption } from "./connection.js";
import { ConnectionPool } from "./connection-pool.js";
import { isFeignedDeadlock, mysqlErrors, named, raised } from "./errors.js";
import { holder, isLocked, lockWaits, PATIENCE_MILLIS, withHolder } from "./held-locks.js";
import { openConnection } from "./open-connection.js";
import { MysqlPages } from "./pages.js";
import { asking, execute, promised, sendTogether, type Transaction } from "./run-statements.js";
import { Running } from "./running.js";
import { IN_LOWER_CASE, type ServerFacts, serverFacts, UNKNOWN, WITHOUT_CASE } from "./server-facts.js";
import { fitsInto, type WriteStep, writeSteps } from "./write-steps.js";

/** Told once that the server keeps names of tables as they are and takes those that differ in letter case only for one. */
export type NamesWatch = () => void;

/** A MySQL or MariaDB server, accessed by a pool of connections; the statements name their databases. */
export class MysqlDriver implements Driver {
  readonly #settings: ServerSettings;
  readonly #pool: ConnectionPool<Connection>;
  readonly #leases = new Leases();
  /** Connections whose session has the settings of the sink. */
  readonly #prepared = new WeakMap<Connection, ServerFacts>();
  #sent: "together" | "one at a time" = "together";
  readonly #pages: MysqlPages;
  #watch: NamesWatch | undefined;
  #columnRules: ColumnRules = USUAL;
  /** Undefined until a server was asked. */
  #keptNames: number | undefined;

  constructor(settings: ServerSettings, watch?: NamesWatch) {
    this.#settings = settings;
    this.#watch = watch;
    this.#pages = new MysqlPages(settings);
    this.#pool = new ConnectionPool({
      open: () => this.#connected(),
      close: ended,
      mostOpen: settings.mostConnections,
      mostIdle: settings.mostIdle,
      leastIdle: settings.leastIdle,
      idleMillis: settings.idleMillis,
    });
  }

  /** How the server finds columns, once it was connected to. */
  get columnRules(): ColumnRules {
    return this.#columnRules;
  }

  /** Whether the server keeps names of databases and tables in lower case, once `knowsNames` has resolved. */
  get keepsLowerCase(): boolean {
    return this.#keptNames === IN_LOWER_CASE;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.read([], signal);
    if (this.#keptNames === WITHOUT_CASE) this.#watch?.();
    this.#watch = undefined;
  }

  async knowsNames(signal: AbortSignal): Promise<void> {
    if (this.#keptNames === undefined) await this.read([], signal);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    return await this.#namingLocks(signal, () => this.#leased(signal, asking(statements)));
  }

  pages(statement: Statement, rows: number, signal: AbortSignal): AsyncIterable<readonly (readonly Cell[])[]> {
    return this.#pages.read(statement, rows, signal);
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    return await this.#namingLocks(signal, () => this.#writeAsSent(statements, signal));
  }

  /** The server does not say who holds the lock that a statement waited for; another question may. */
  async #namingLocks<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isLocked(error)) throw error;
      throw await withHolder(error, this.#leased(signal, asking([holder]), { limitMillis: PATIENCE_MILLIS }));
    }
  }

  async #writeAsSent(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    try {
      return await this.#write(statements, this.#sent, signal);
    } catch (error) {
      // Nothing of a text is run that is refused for what it is.
      if (this.#sent === "one at a time" || !SEVERAL_REFUSED.has(codeOf(error))) throw error;
      const bytes = await this.#write(statements, "one at a time", signal);
      this.#sent = "one at a time";
      return bytes;
    }
  }

  async #write(statements: readonly Statement[], sent: "together" | "one at a time", signal: AbortSignal) {
    const running = new Running(statements);
    try {
      return await this.#leased(signal, async (connection) => {
        const alone = this.#prepared.get(connection)?.isOfGalera === true;
        await this.#run(connection, writeSteps(statements, alone ? "one at a time" : sent), running);
        running.commits();
        // An abandoned write has lost its connection, and the server rolls it back.
        await connection.query("COMMIT AND NO CHAIN NO RELEASE");
        return 0;
      });
    } catch (error) {
      throw running.failed(error);
    }
  }

  async #run(connection: Connection, steps: Iterable<WriteStep>, running: Running): Promise<void> {
    const { mostBytes, lockWaitMillis } = this.#prepared.get(connection) ?? UNKNOWN;
    running.begins(lockWaitMillis);
    try {
      let transaction: Transaction = "open";
      const done = (now: Transaction) => {
        transaction = now;
        running.next();
      };
      for (const step of steps) {
        if (!fitsInto(mostBytes, step)) throw tooLarge(mostBytes);
        if (typeof step === "string") await sendTogether(connection, step, done);
        else done(await execute(connection, step, transaction));
      }
    } catch (error) {
      if (running.isOfBegin && codeOf(error) !== TOO_LARGE) throw notOpened(error);
      throw (await isFeignedDeadlock(connection, error)) ? raised(error) : error;
    }
  }

  async alone({ text }: Statement, signal: AbortSignal): Promise<void> {
    await this.#leased(signal, (connection) => connection.query(text), { limitMillis: undefined });
  }

  async commitUnits(): Promise<readonly SchemaName[]> {
    return [{ database: "", schema: "" }];
  }

  async close(signal: AbortSignal): Promise<void> {
    this.#pages.close();
    await this.#leases.closing(signal, () => this.#pool.end());
  }

  async #leased<T>(
    signal: AbortSignal,
    work: (connection: Connection) => Promise<T>,
    { limitMillis }: { readonly limitMillis: number | undefined } = { limitMillis: this.#limit() },
  ): Promise<T> {
    const taken = unlessAborted(this.#pool.take(), signal, (late) => this.#pool.keep(late));
    const connection = await opening(taken);
    const release = (how: LeaseEnd) => {
      if (how === "keep") return this.#pool.keep(connection);
      connection.destroy();
      this.#pool.lose();
    };
    const lease = this.#leases.open({ release, limitMillis, signal, remedy: LOCK });
    try {
      // The promises of a destroyed connection are never settled.
      const result = await lease.unlessDestroyed(this.#preparedFor(connection, work));
      lease.end("keep");
      return result;
    } catch (error) {
      // It may have ended between two settings of the session.
      this.#prepared.delete(connection);
      lease.end((await rolledBack(connection, error)) ? "keep" : "destroy");
      throw signal.aborted ? writeAborted() : named(error);
    }
  }

  async #preparedFor<T>(connection: Connection, work: (connection: Connection) => Promise<T>): Promise<T> {
    if (!this.#prepared.has(connection)) await opening(this.#prepare(connection));
    return await work(connection);
  }

  async #prepare(connection: Connection): Promise<void> {
    await connection.query(`${SESSION}, ${lockWaits(this.#limit())}`);
    const facts = await serverFacts(connection);
    this.#columnRules = columnRules(facts);
    this.#keptNames = facts.keptNames;
    this.#prepared.set(connection, facts);
  }

  #limit(): number | undefined {
    const limit = this.#settings.options.statementTimeoutMillis ?? this.#settings.statementTimeoutMillis;
    return limit === 0 ? undefined : limit;
  }

  async #connected(): Promise<Connection> {
    const { host, port } = this.#settings;
    const stream = () => this.#leases.connecting(connect({ host, port, noDelay: true, keepAlive: true }));
    const made = await connectBySslMode(this.#settings.options, {
      connect: (way) => openConnection({ ...connectionOptions(this.#settings, way), multipleStatements: true, stream }),
      wantsOther: wantsOtherEncryption,
    });
    const connection = promised(made);
    // A running query gets the same error.
    connection.on("error", () => this.#pool.broken(connection));
    return connection;
  }
}

/** For what is done before the statements of a caller. */
async function opening<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw notOpened(error);
  }
}

const LOCK =
  ", and see in SHOW FULL PROCESSLIST, while it is tried again, whether it waits for a lock: end who holds that";

/** What a proxy says that shares connections among its clients (4501, MySQL Router), and one that passes no texts of several. */
const SEVERAL_REFUSED: ReadonlySet<string | undefined> = new Set(["ER_4501", "ER_PARSE_ERROR"]);

const TOO_LARGE = "ER_NET_PACKET_TOO_LARGE";

/** With the code and the words of the server. */
function tooLarge(packetBytes: number): Error {
  const error = new Error(`Got a packet bigger than 'max_allowed_packet' bytes, which is ${packetBytes}`);
  return Object.assign(error, { code: TOO_LARGE });
}

/** True if the connection can be used again after the error. */
async function rolledBack(connection: Connection, error: unknown): Promise<boolean> {
  if (isUnexpectedChanges(error)) return await rollback(connection);
  if (maySessionMatter(databaseErrorOf(error), mysqlErrors)) return false;
  // Only an error that the server sent has a SQLSTATE; a fatal one ends the connection.
  if (typeof error !== "object" || error === null || !("sqlState" in error)) return false;
  if ("fatal" in error && error.fatal === true) return false;
  return await rollback(connection);
}

async function rollback(connection: Connection): Promise<boolean> {
  try {
    await connection.query("ROLLBACK AND NO CHAIN NO RELEASE");
    return true;
  } catch {
    // The first error is reported.
    return false;
  }
}

async function ended(connection: Connection): Promise<void> {
  try {
    await connection.end();
  } catch {
    // It is closed already.
  }
}
