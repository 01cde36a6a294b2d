import { constants } from "node:fs";
import { access, mkdir, readdir } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import {
  abortable,
  type Cell,
  type DatabaseError,
  type Driver,
  isUnexpectedChanges,
  PartlyWritten,
  type SchemaName,
  type Statement,
  unexpectedChanges,
  writeAborted,
} from "deneb/sql";
import { schemaOf } from "./file-name.js";
import type { SqliteReply, SqliteRequest } from "./worker.js";

interface Waiting {
  resolve(reply: SqliteReply): void;
  reject(error: unknown): void;
}

/** SQLite files, accessed by a worker thread, so that waiting for the disk never blocks the agent. */
export class SqliteDriver implements Driver {
  readonly #folder: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#answers(signal);
    await access(this.#folder, constants.W_OK);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    return (await this.#done("read", statements, signal)).rows;
  }

  /** A second use ends the first one. */
  async *pages(statement: Statement, rows: number, signal: AbortSignal): AsyncGenerator<readonly (readonly Cell[])[]> {
    let page = (await this.#done("open", [statement], signal, rows)).rows;
    while (page.length > 0) {
      yield page;
      page = (await this.#done("next", [], signal, rows)).rows;
    }
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    await this.#done("write", statements, signal);
    return 0;
  }

  async commitUnits(signal: AbortSignal): Promise<readonly SchemaName[]> {
    await this.#answers(signal);
    const files = await readdir(this.#folder);
    return files.flatMap((file) => {
      const schema = schemaOf(file);
      return schema === undefined ? [] : { database: "", schema };
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    try {
      await this.#asked("close", [], new AbortController().signal);
    } finally {
      this.#worker = undefined;
      await worker.terminate();
    }
  }

  /** A thread that has not loaded SQLite cannot write, although it was started and the folder can be read. */
  async #answers(signal: AbortSignal): Promise<void> {
    await this.#done("read", [], signal);
  }

  async #done(
    task: Exclude<SqliteRequest["task"], "close">,
    statements: readonly Statement[],
    signal: AbortSignal,
    most = 0,
  ): Promise<SqliteReply> {
    if (signal.aborted) throw writeAborted();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const reply = await this.#asked(task, statements, signal, most);
    if (reply.error === undefined) return reply;

    const error = signal.aborted ? writeAborted() : errorOf(reply.error);
    const written = new Set(reply.written);
    throw written.size > 0 ? new PartlyWritten(({ schema }) => written.has(schema), error) : error;
  }

  /** A thread in a transaction cannot be terminated safely; it checks `aborted` and rolls back. */
  async #asked(
    task: SqliteRequest["task"],
    statements: readonly Statement[],
    signal: AbortSignal,
    most = 0,
  ): Promise<SqliteReply> {
    const worker = this.#started();
    const aborted = new Int32Array(new SharedArrayBuffer(4));
    const abort = () => Atomics.store(aborted, 0, 1);
    const id = ++this.#lastId;
    const reply = () =>
      new Promise<SqliteReply>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        worker.postMessage({ id, task, statements, most, aborted } satisfies SqliteRequest);
      });
    return await abortable(signal, abort, reply).finally(() => this.#waiting.delete(id));
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;

    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: this.#folder });
    worker.on("message", (reply: SqliteReply) => this.#waiting.get(reply.id)?.resolve(reply));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("the thread of the database files ended")));
    this.#worker = worker;
    return worker;
  }

  /** The next write starts a new thread. */
  #lost(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

function errorOf(databaseError: DatabaseError): Error {
  return isUnexpectedChanges(databaseError) ? unexpectedChanges() : new SqliteError(databaseError);
}

/** An error of the thread; its class is lost in transfer. */
class SqliteError extends Error {
  readonly code: string | undefined;

  constructor({ code, message }: DatabaseError) {
    super(message);
    this.code = code;
  }
}
