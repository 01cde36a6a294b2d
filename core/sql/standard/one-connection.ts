import { AgentError, type QueryResult } from "../../sdk/index.js";
import { type Driver, unexpectedChanges, unlessAborted, writeAborted } from "../contract/driver.js";
import { notOpened, unansweredCommit } from "../contract/noted-errors.js";
import type { Cell, Statement } from "../contract/statement.js";

/** What {@link oneConnection} builds a driver from. @beta */
export interface ConnectionParts<Connection> {
  /**
   * Opens the connection. Called before the first statement, and again after a connection was lost. With the purpose
   * `query` it opens one for `ask` that cannot change anything, as far as the database has such, and makes no database.
   */
  open(signal: AbortSignal, purpose: "write" | "query"): Promise<Connection>;
  /**
   * Runs one statement with one list of parameters. Resolves to its rows, every value as text, undefined for NULL. The
   * rows of RETURNING are included: they count the changed rows.
   */
  run(connection: Connection, text: string, parameters: readonly Cell[]): Promise<readonly (readonly Cell[])[]>;
  /** Runs one statement of a person, with the names of its columns; for `deneb sql`. */
  ask?(connection: Connection, text: string): Promise<QueryResult>;
  /** Closes a connection. Called once for each connection that was opened; its errors are ignored. */
  close(connection: Connection): Promise<void>;
  /** The statement that begins a transaction; `BEGIN` when absent. COMMIT and ROLLBACK end it. */
  readonly begin?: string;
  /** The statement that begins a transaction for `ask`, which is rolled back; `BEGIN` when absent. */
  readonly beginQuery?: string;
}

type Ask<Connection> = Required<ConnectionParts<Connection>>["ask"];

/**
 * A driver over one connection, which runs statements one at a time and each write in a transaction. A connection that
 * cannot commit or roll back is closed, and the next statement opens another one.
 * @beta
 */
export function oneConnection<Connection>(parts: ConnectionParts<Connection>): Driver {
  let connection: { readonly value: Connection } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function drop(): Promise<void> {
    const open = connection;
    connection = undefined;
    if (open !== undefined) await parts.close(open.value).catch(() => undefined);
  }

  async function connected(signal: AbortSignal): Promise<Connection> {
    if (closed || signal.aborted) throw writeAborted();
    connection ??= { value: await opening(parts.open(signal, "write")) };
    return connection.value;
  }

  /** Runs one at a time. A caller that aborts does not wait for the running statement. */
  async function turn<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return await unlessAborted(mine, signal, () => undefined);
  }

  async function rowsOf(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const own = await connected(signal);
    const rows: (readonly Cell[])[] = [];
    const every = statements.flatMap(({ text, runs, changes }) => runs.map((run) => ({ text, run, changes })));
    for (const { text, run, changes } of every) {
      if (closed || signal.aborted) throw writeAborted();
      const answer = rowsIn(await parts.run(own, text, run));
      if (changes !== undefined && answer.length !== changes) throw unexpectedChanges();
      for (const row of answer) rows.push(row);
    }
    return rows;
  }

  async function read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    try {
      return await rowsOf(statements, signal);
    } catch (error) {
      // The cause may be the connection.
      await drop();
      throw error;
    }
  }

  async function write(statements: readonly Statement[], signal: AbortSignal, commit: Commit): Promise<number> {
    const own = await connected(signal);
    try {
      await opening(parts.run(own, parts.begin ?? "BEGIN", []));
      await rowsOf(statements, signal);
      if (signal.aborted) throw writeAborted();
      commit.isSent = true;
      commit.isInDoubt = true;
      await parts.run(own, "COMMIT", []);
      return 0;
    } catch (error) {
      try {
        await parts.run(own, "ROLLBACK", []);
        commit.isInDoubt = false;
      } catch {
        await drop();
      }
      // What keeps it from that may keep it from all that follow, as a statement that a client of SQLite has left open.
      if (commit.isSent) await drop();
      throw error;
    }
  }

  /** Whoever aborts does not wait for the answer to a commit. */
  async function written(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const commit: Commit = { isSent: false, isInDoubt: false };
    try {
      return await turn(() => write(statements, signal, commit), signal);
    } catch (error) {
      throw commit.isInDoubt ? unansweredCommit(error) : error;
    }
  }

  async function query(ask: Ask<Connection>, text: string, signal: AbortSignal): Promise<QueryResult> {
    const own = await parts.open(signal, "query");
    try {
      await parts.run(own, parts.beginQuery ?? "BEGIN", []);
      const answer = await ask(own, text);
      await parts.run(own, "ROLLBACK", []);
      return answer;
    } finally {
      await parts.close(own).catch(() => undefined);
    }
  }

  const ask = parts.ask?.bind(parts);
  return {
    ...(ask === undefined ? {} : { query: (text, signal) => query(ask, text, signal) }),
    probe: (signal) => turn(async () => void (await connected(signal)), signal),
    read: (statements, signal) => turn(() => read(statements, signal), signal),
    write: written,
    commitUnits: async () => [{ database: "", schema: "" }],
    async close(signal) {
      closed = true;
      await unlessAborted(last, signal, () => undefined).catch(() => undefined);
      await drop();
    },
  };
}

/** How far a write has come. */
interface Commit {
  isSent: boolean;
  isInDoubt: boolean;
}

async function opening<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw notOpened(error);
  }
}

/** What `run` returned, with null as the NULL that it is in most clients. Anything else would fail far from here, as if the database were away. */
function rowsIn(answer: unknown): readonly (readonly Cell[])[] {
  if (!Array.isArray(answer)) throw malformed(answer, "a list of rows");
  return answer.map((row: unknown) => {
    if (!Array.isArray(row)) throw malformed(row, "a row, which is a list of texts");
    return row.map((cell: unknown) => {
      if (cell === null || cell === undefined) return undefined;
      if (typeof cell !== "string") throw malformed(cell, "a text, or undefined for NULL");
      return cell;
    });
  });
}

function malformed(made: unknown, wanted: string): AgentError {
  const is = typeof made === "object" && made !== null ? `an object (${classOf(made)})` : `${typeof made}`;
  const message = `reading rows: run of its connection returned ${is} in place of ${wanted}; its plugin must be corrected`;
  return new AgentError("ROWS_MALFORMED", message, { retryable: true });
}

function classOf(made: object): string {
  const { name }: { readonly name?: unknown } = Object(Reflect.get(made, "constructor"));
  return typeof name === "string" ? name : "of no class";
}
