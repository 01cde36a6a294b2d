import { constants } from "node:fs";
import { access, mkdir, readdir } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { onAbort } from "deneb/sdk";
import type { Fault } from "../faults.js";
import type { Cell, Statement } from "../statement.js";
import type { SchemaName } from "../table-name.js";
import { type Driver, isUnexpectedChanges, PartlyWritten, unexpectedChanges, writeAborted } from "./driver.js";
import { schemaOf } from "./sqlite-file-name.js";
import type { SqliteReply, SqliteRequest } from "./sqlite-messages.js";

interface Waiting {
  resolve(reply: SqliteReply): void;
  reject(error: unknown): void;
}

/** SQLite files written by a thread of their own, so that waiting for the disk never holds up the agent. */
export class SqliteDriver implements Driver {
  readonly #folder: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async probe(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await access(this.#folder, constants.W_OK);
    this.#started();
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    return (await this.#done("read", statements, signal)).rows;
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    await this.#done("write", statements, signal);
    return 0;
  }

  async places(): Promise<readonly SchemaName[]> {
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

  async #done(task: "read" | "write", statements: readonly Statement[], signal: AbortSignal): Promise<SqliteReply> {
    if (signal.aborted) throw writeAborted();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const reply = await this.#asked(task, statements, signal);
    if (reply.fault === undefined) return reply;

    const error = signal.aborted ? writeAborted() : errorOf(reply.fault);
    const written = new Set(reply.written);
    throw written.size > 0 ? new PartlyWritten(({ schema }) => written.has(schema), error) : error;
  }

  /** A thread in the middle of a transaction cannot be stopped safely; it looks at `givenUp` and rolls back itself. */
  async #asked(
    task: SqliteRequest["task"],
    statements: readonly Statement[],
    signal: AbortSignal,
  ): Promise<SqliteReply> {
    const worker = this.#started();
    const givenUp = new Int32Array(new SharedArrayBuffer(4));
    const stopListening = onAbort(signal, () => Atomics.store(givenUp, 0, 1));
    const id = ++this.#lastId;
    try {
      return await new Promise<SqliteReply>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        worker.postMessage({ id, task, statements, givenUp } satisfies SqliteRequest);
      });
    } finally {
      this.#waiting.delete(id);
      stopListening();
    }
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;

    const worker = new Worker(new URL("./sqlite-worker.js", import.meta.url), { workerData: this.#folder });
    worker.on("message", (reply: SqliteReply) => this.#waiting.get(reply.id)?.resolve(reply));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("the thread of the database files ended")));
    this.#worker = worker;
    return worker;
  }

  /** The next write starts another thread. */
  #lost(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

function errorOf(fault: Fault): Error {
  return isUnexpectedChanges(fault) ? unexpectedChanges() : new SqliteError(fault);
}

/** An error of the other thread; its class does not survive the way here. */
class SqliteError extends Error {
  readonly code: string | undefined;

  constructor({ code, message }: Fault) {
    super(message);
    this.code = code;
  }
}
