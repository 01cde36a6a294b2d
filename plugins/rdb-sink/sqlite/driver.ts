import { constants } from "node:fs";
import { access, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { codeOf } from "deneb/sdk";
import {
  abortable,
  type Cell,
  type DatabaseError,
  type Driver,
  databaseErrorOf,
  PartlyWritten,
  type SchemaName,
  type Statement,
  unexpectedChanges,
  writeAborted,
} from "deneb/sql";
import { hasLock, makePrivateFolder, refuseGone } from "./database-folder.js";
import { fileName, schemaOf, schemasOf } from "./file-name.js";
import { inTurn } from "./file-turns.js";
import { mostOpenDatabases } from "./open-file-limit.js";
import type { SqliteReply, SqliteRequest, SqliteThread } from "./thread-messages.js";

interface Waiting {
  resolve(reply: SqliteReply): void;
  reject(error: unknown): void;
}

/** How long SQLite waits while another program writes the same file. */
const BUSY_MILLIS = 5000;

/** By the real name of a folder: the drivers of this process that write there. */
const writers = new Map<string, number>();

/** Folders that an agent has locked, as this process has seen. */
const lockedFolders = new Set<string>();

/** SQLite files, accessed by a worker thread, so that waiting for the disk never blocks the agent. */
export class SqliteDriver implements Driver {
  readonly #folder: string;
  readonly #mostOpen: number;
  readonly #busyMillis: number;
  readonly #waiting = new Map<number, Waiting>();
  #realFolder: string | undefined;
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(folder: string, { mostOpen = mostOpenDatabases(), busyMillis = BUSY_MILLIS } = {}) {
    this.#folder = folder;
    this.#mostOpen = mostOpen;
    this.#busyMillis = busyMillis;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#answers(signal);
    await access(this.#folder, constants.W_OK);
  }

  async read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]> {
    const rows: (readonly Cell[])[] = [];
    for (const part of ofFewSchemas(statements, this.#mostOpen))
      for (const row of (await this.#done("read", part, signal)).rows) rows.push(row);
    return rows;
  }

  /** A second use ends the first one. */
  async *pages(statement: Statement, rows: number, signal: AbortSignal): AsyncGenerator<readonly (readonly Cell[])[]> {
    let page = (await this.#done("open", [statement], signal, { most: rows })).rows;
    while (page.length > 0) {
      yield page;
      page = (await this.#done("next", [], signal, { most: rows })).rows;
    }
  }

  async write(statements: readonly Statement[], signal: AbortSignal): Promise<number> {
    const written = new Set<string>();
    try {
      for (const part of ofFewSchemas(bySchema(statements), this.#mostOpen))
        await this.#done("write", part, signal, { written });
      return 0;
    } catch (error) {
      throw written.size > 0 ? new PartlyWritten(({ schema }) => written.has(schema), error) : error;
    }
  }

  async commitUnits(signal: AbortSignal): Promise<readonly SchemaName[]> {
    await this.#answers(signal);
    if (lockedFolders.has(this.#folder)) refuseGone(this.#folder);
    const files = await readdir(this.#folder);
    return files.flatMap((file) => {
      const schema = schemaOf(file);
      return schema === undefined ? [] : { database: "", schema };
    });
  }

  async close(): Promise<void> {
    this.#writesNoMore();
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
    { most = 0, written = new Set<string>() } = {},
  ): Promise<SqliteReply> {
    if (signal.aborted) throw writeAborted();
    await this.#makeFolder();
    const ask = async () => await this.#asked(task, statements, signal, most);
    const folder = task === "write" ? await this.#writtenFolder() : undefined;
    const isShared = folder !== undefined && (writers.get(folder) ?? 0) > 1;
    const reply = await (isShared ? inTurn(filesOf(statements, folder), signal, ask) : ask());
    for (const schema of reply.written) written.add(schema);
    if (reply.error === undefined) return reply;
    throw signal.aborted ? writeAborted() : errorOf(reply.error, reply.unexpected);
  }

  async #makeFolder(): Promise<void> {
    const isLocked = lockedFolders.has(this.#folder);
    if (await this.#hasFolder()) {
      if (!isLocked && hasLock(this.#folder)) lockedFolders.add(this.#folder);
    } else if (isLocked) refuseGone(this.#folder);
    else await makePrivateFolder(this.#folder);
  }

  async #hasFolder(): Promise<boolean> {
    try {
      return (await stat(this.#folder)).isDirectory();
    } catch (error) {
      // A disk that fails has not lost the folder.
      if (codeOf(error) === "EIO") throw error;
      return false;
    }
  }

  /** The real name, which is the same for all drivers that write there; from the first write on this one is among them. */
  async #writtenFolder(): Promise<string> {
    if (this.#realFolder === undefined) {
      const folder = await realpath(this.#folder);
      if (this.#realFolder === undefined) writers.set(folder, (writers.get(folder) ?? 0) + 1);
      this.#realFolder = folder;
    }
    return this.#realFolder;
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

    const workerData: SqliteThread = {
      folder: this.#folder,
      hadLock: lockedFolders.has(this.#folder),
      mostOpen: this.#mostOpen,
      busyMillis: this.#busyMillis,
    };
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData });
    worker.on("message", (reply: SqliteReply) => this.#waiting.get(reply.id)?.resolve(reply));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("the thread of the database files ended")));
    this.#worker = worker;
    return worker;
  }

  #writesNoMore(): void {
    const folder = this.#realFolder;
    if (folder === undefined) return;
    this.#realFolder = undefined;
    const others = (writers.get(folder) ?? 1) - 1;
    if (others === 0) writers.delete(folder);
    else writers.set(folder, others);
  }

  /** The next write starts a new thread. */
  #lost(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

function filesOf(statements: readonly Statement[], folder: string): readonly string[] {
  return schemasOf(statements).map((schema) => join(folder, fileName(schema)));
}

/** The statements in the order of the schemas: each of those, a file, has one transaction. */
function bySchema(statements: readonly Statement[]): readonly Statement[] {
  const bySchemas = new Map<string, Statement[]>();
  for (const statement of statements) {
    const { schema } = statement.at;
    const others = bySchemas.get(schema);
    if (others === undefined) bySchemas.set(schema, [statement]);
    else others.push(statement);
  }
  return [...bySchemas.values()].flat();
}

/** One after another, as the files of this number of schemas may be open at once; at least one part. */
function* ofFewSchemas(statements: readonly Statement[], most: number): Generator<readonly Statement[]> {
  let part: Statement[] = [];
  let schemas = new Set<string>();
  for (const statement of statements) {
    const { schema } = statement.at;
    if (schemas.size === most && !schemas.has(schema)) {
      yield part;
      part = [];
      schemas = new Set();
    }
    schemas.add(schema);
    part.push(statement);
  }
  yield part;
}

function errorOf(thrown: DatabaseError, unexpected: boolean): Error {
  return unexpected ? unexpectedChanges() : new SqliteError(databaseErrorOf(thrown));
}

/** An error of the thread; its class is lost in transfer. */
class SqliteError extends Error {
  readonly code: string | undefined;

  constructor({ code, message }: DatabaseError) {
    super(message);
    this.code = code;
  }
}
