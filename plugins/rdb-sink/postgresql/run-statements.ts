import { codeOf } from "deneb/sdk";
import { notOpened, plain, type Statement } from "deneb/sql";
import type pg from "pg";
import { OUT_OF_STEP, RAISED } from "./error-kinds.js";
import { isOfAll } from "./errors.js";
import { type PipelineResult, PostgresqlPipeline } from "./pipeline.js";

/** In every language of messages. */
const GIVES_UP_WAITING = "SyncRepWaitForLSN";

const nowhere = { database: "", schema: "" } as const;

/** Commits something that changes nothing; a commit without that waits for nobody. */
const WAIT_AGAIN: readonly Statement[] = [
  "BEGIN",
  "SELECT FROM pg_catalog.pg_logical_emit_message(true, 'deneb', '') AS place WHERE place IS NULL",
  "COMMIT",
].map((text) => plain(nowhere, text));

/** What is noticed of a commit are warnings, which `client_min_messages` of the user may keep back. */
const WARNING = plain(nowhere, "SET LOCAL client_min_messages = warning");

/** Connections whose server has committed what its synchronous standbys may lack. */
const unconfirmed = new WeakSet<pg.ClientBase>();

/** Of the warning at an end without a transaction. */
const NO_TRANSACTION = "25P01";

/** Connections whose server has another session than at the BEGIN: somebody in between has connected anew. */
const exchanged = new WeakSet<pg.ClientBase>();

/** Why connections ended between two statements. */
const endings = new WeakMap<pg.ClientBase, Error>();

/**
 * Notices what the server says of a connection and not of a statement: why it ends, and that somebody cancelled a commit which waited
 * for a synchronous standby, and is reported as successful.
 */
export function watchNotices(client: pg.ClientBase): void {
  // The server may close a connection at any moment; without a listener the error would end the process.
  client.on("error", (error) => {
    if (!endings.has(client)) endings.set(client, error);
  });
  client.on("notice", ({ routine, code }) => {
    if (routine === GIVES_UP_WAITING) unconfirmed.add(client);
    if (code === NO_TRANSACTION) exchanged.add(client);
  });
}

/**
 * What ended the connection, for an error that says only that there is none. One with a code of the whole server that a trigger or another
 * server behind a foreign table has sent has a code of its own: its rows alone are the reason.
 */
export function causeOf(error: unknown, client: pg.ClientBase): unknown {
  if (!(error instanceof Error)) return error;
  if (/is not queryable$/.test(error.message)) return notOpened(endings.get(client) ?? error);
  if (isOfPooler(error)) return notOpened(error);
  const code = codeOf(error);
  if (code === undefined || !isOfAll(code) || !OF_OTHERS.has(Reflect.get(error, "routine"))) return error;
  return Object.assign(new Error(error.message, { cause: error }), { code: `${RAISED}${code}` });
}

/** Whether something in between has ended the session, as for want of a server: an error of PostgreSQL itself names its routine. */
function isOfPooler(error: Error): boolean {
  return Reflect.get(error, "severity") === "FATAL" && Reflect.get(error, "routine") === undefined;
}

/** Parts of the server that send a code which somebody else has chosen: RAISE of PL/pgSQL, and postgres_fdw. */
const OF_OTHERS: ReadonlySet<unknown> = new Set(["exec_stmt_raise", "pgfdw_report_error"]);

/** Runs the statements in one round trip. What they commit is on the synchronous standbys then, if the server has any. */
export async function runStatements(client: pg.ClientBase, statements: readonly Statement[]): Promise<PipelineResult> {
  const warning = statements.flatMap((one) => (one.text === "COMMIT" ? [WARNING, one] : [one]));
  return await runPipeline(client, new PostgresqlPipeline(warning));
}

/** The same of what was not sent yet. */
export async function runPipeline(client: pg.ClientBase, pipeline: PostgresqlPipeline): Promise<PipelineResult> {
  const result = await client.query(pipeline).done;
  if (exchanged.delete(client) && pipeline.commits)
    throw new Error(`${OUT_OF_STEP}: a transaction was gone before its end, without an error`);
  if (unconfirmed.delete(client)) await runStatements(client, WAIT_AGAIN);
  return result;
}
