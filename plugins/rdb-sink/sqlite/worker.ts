import { parentPort, workerData } from "node:worker_threads";
import type { DatabaseError, Statement } from "deneb/sql";
import { isTableOfFilesFull } from "./errors.js";
import { schemasOf } from "./file-name.js";
import { SqliteFiles, UnexpectedChanges } from "./files.js";
import type { SqliteReply, SqliteRequest, SqliteThread } from "./thread-messages.js";

const thread: SqliteThread = workerData;
const files = new SqliteFiles(thread);

/** The requests that came are answered one after another. */
let answered = Promise.resolve();

parentPort?.on("message", (request: SqliteRequest) => {
  answered = answered.then(() => answer(request));
});

async function answer(request: SqliteRequest): Promise<void> {
  parentPort?.postMessage(sqliteAnswer(files, request));
  await files.release();
}

/** Handles a request; never throws. */
function sqliteAnswer(files: SqliteFiles, request: SqliteRequest): SqliteReply {
  const written: string[] = [];
  const reply = { id: request.id, rows: [], written, error: undefined, unexpected: false };
  try {
    if (request.task === "read") return { ...reply, rows: read(files, request.statements) };
    if (request.task === "open") files.openRows(request.statements);
    if (request.task === "open" || request.task === "next") return { ...reply, rows: files.nextRows(request.most) };
    if (request.task === "write") write(files, request, written);
    if (request.task === "close") files.close();
    return reply;
  } catch (error) {
    const thrown = asThrown(error);
    if (isTableOfFilesFull(thrown)) files.closeAll();
    return { ...reply, error: thrown, unexpected: error instanceof UnexpectedChanges };
  }
}

/** `databaseErrorOf` makes one line of it in the other thread: this one does not load the modules of deneb/sql, which takes longer than all else. */
function asThrown(error: unknown): DatabaseError {
  const { code, message }: { readonly code?: unknown; readonly message?: unknown } = Object(error);
  return { code: typeof code === "string" ? code : undefined, message: String(message ?? error) };
}

function read(files: SqliteFiles, statements: readonly Statement[]): SqliteReply["rows"] {
  files.open(schemasOf(statements));
  return statements.flatMap((statement) => files.rows(statement));
}

/** One transaction for each schema; none is committed before all statements have run. */
function write(files: SqliteFiles, { statements, aborted }: SqliteRequest, written: string[]): void {
  const begun: string[] = [];
  const schemas = schemasOf(statements);
  files.open(schemas);
  try {
    for (const schema of schemas) {
      files.begin(schema);
      begun.push(schema);
    }
    for (const statement of statements) {
      throwIfAborted(aborted);
      files.run(statement);
    }
    throwIfAborted(aborted);
    for (const schema of schemas) {
      files.execute(schema, "COMMIT");
      written.push(schema);
    }
  } catch (error) {
    for (const schema of begun) if (!written.includes(schema)) rollBack(files, schema);
    throw error;
  }
}

function throwIfAborted(aborted: Int32Array): void {
  if (Atomics.load(aborted, 0) === 1) throw new Error("aborted");
}

function rollBack(files: SqliteFiles, schema: string): void {
  try {
    files.execute(schema, "ROLLBACK");
  } catch {
    // SQLite has rolled back after a full disk or a failed write; the first error is reported.
  }
}
