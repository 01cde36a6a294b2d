import { Socket } from "node:net";
import { codeOf } from "deneb/sdk";
import { type Cell, notOpened, plain, refusedAt, type Statement, type TableName } from "deneb/sql";
import type pg from "pg";
import { Copies, haveSeveralRows } from "./copies.js";
import { isSqlState } from "./error-kinds.js";
import { plainly, type Ways } from "./messages.js";
import { mayHaveName, NamedTexts } from "./names.js";
import { type PipelineResult, PostgresqlPipeline } from "./pipeline.js";
import { runPipeline, runStatements } from "./run-statements.js";

const nowhere = { database: "", schema: "" } as const;

/** The process that answers and whom it sees, then the tables with rules. */
const QUESTION: readonly Statement[] = [
  plain(nowhere, "SELECT pg_backend_pid(), host(inet_client_addr()), inet_client_port()"),
  plain(
    nowhere,
    `SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relhasrules AND c.relkind IN ('r', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
  ),
];

/** Asks in a transaction of its own. */
type Ask = (client: pg.ClientBase, statements: readonly Statement[]) => Promise<readonly (readonly Cell[])[]>;

/** What a connection without anybody between the agent and the server is used for. */
interface Session {
  readonly copies: Copies;
  readonly names: NamedTexts;
  /** Milliseconds of a steady clock at which it was asked for rules. */
  askedAt: number;
}

/** Fewer statements are run as they come, on a connection of which nothing is known. */
const SEVERAL = 3;
/** Milliseconds after which a connection is asked again, and gives its names anew: somebody may have made a rule, or changed a type. */
const BETWEEN_QUESTIONS = 60_000;
const UNKNOWN_SETTING = "42704";
const sessions = new WeakMap<pg.ClientBase, Session | "pooled">();

/** Nobody else has the connection meanwhile. */
async function sessionOf(client: pg.ClientBase, ask: Ask, now: number): Promise<Session | "pooled"> {
  const known = sessions.get(client);
  if (known === "pooled" || (known !== undefined && now - known.askedAt < BETWEEN_QUESTIONS)) return known;
  const ruled = await askedFor(client, ask, known === undefined);
  if (ruled === "pooled") {
    sessions.set(client, ruled);
    return ruled;
  }
  const session = known ?? { copies: new Copies(), names: new NamedTexts(), askedAt: now };
  session.copies.leaveOut(ruled);
  session.names.forget();
  session.askedAt = now;
  sessions.set(client, session);
  return session;
}

/**
 * The tables with rules. A pooler has given a process of its own at the start. It may lend the connection to others, and not know COPY
 * in a pipeline.
 */
async function askedFor(client: pg.ClientBase, ask: Ask, isFirst: boolean): Promise<readonly TableName[] | "pooled"> {
  try {
    const [[pid, ...seen] = [], ...ruled] = await ask(client, QUESTION);
    if (pid !== String(Reflect.get(client, "processID"))) return "pooled";
    if (isFirst && !isOurs(seen, client) && (await isPgpool(client))) return "pooled";
    return ruled.map(([schema = "", table = ""]) => ({ database: "", schema, table }));
  } catch (error) {
    // A server without such a catalogue is another one.
    if (!isSqlState(codeOf(error))) throw error;
    return "pooled";
  }
}

/** Whether the address and port that the server sees are those of this end: then nobody is in between. */
function isOurs([address, port]: readonly Cell[], client: pg.ClientBase): boolean {
  const connection: unknown = Reflect.get(client, "connection");
  const stream: unknown = typeof connection === "object" && connection !== null && Reflect.get(connection, "stream");
  if (!(stream instanceof Socket)) return false;
  const { localAddress, localPort } = stream;
  return port === String(localPort) && address === localAddress?.replace(/^::ffff:/, "");
}

/**
 * Pgpool-II passes on the process number of the server, and waits without end for the answer to a COPY that comes in a pipeline. It answers
 * this one itself, if it does not come in a pipeline. For the server behind another relay, such as HAProxy, it is an error.
 */
async function isPgpool(client: pg.ClientBase): Promise<boolean> {
  try {
    await client.query("SHOW pool_version");
    return true;
  } catch (error) {
    if (codeOf(error) === UNKNOWN_SETTING) return false;
    throw error;
  }
}

/** A transaction without its commit. */
export interface OpenTransaction {
  /** Its begin, and its settings. */
  readonly begin: readonly Statement[];
  readonly statements: readonly Statement[];
}

/**
 * Runs a transaction that is not committed yet. Rows go by COPY where the server takes them so, and texts that come again and again are
 * read once. `now` in milliseconds of a steady clock.
 */
export async function runTransaction(
  client: pg.ClientBase,
  transaction: OpenTransaction,
  ask: Ask,
  now = performance.now(),
): Promise<PipelineResult> {
  const statements = [...transaction.begin, ...transaction.statements];
  const failedAt = (error: unknown, failed: Statement | undefined) =>
    failed !== undefined && transaction.begin.includes(failed) ? notOpened(error) : refusedAt(error, failed);
  const runPlainly = async () => {
    const pipeline = new PostgresqlPipeline(statements);
    return await runPipeline(client, pipeline).catch((error: unknown) => {
      throw failedAt(error, pipeline.failed);
    });
  };
  const isCopied = haveSeveralRows(statements);
  if (!isCopied && statements.filter(mayHaveName).length < SEVERAL) return await runPlainly();
  const session = await sessionOf(client, ask, now);
  if (session === "pooled") return await runPlainly();
  const { copies, names } = session;
  const ways: Ways = { copyOf: isCopied ? copies.of : plainly.copyOf, nameOf: names.of };
  for (;;) {
    const pipeline = new PostgresqlPipeline(statements, ways);
    try {
      const result = await runPipeline(client, pipeline);
      names.written();
      return result;
    } catch (error) {
      const { failed } = pipeline;
      // Each refusal leaves fewer statements to refuse.
      const isRefused = isCopied && copies.refused(failed, error);
      if (!names.failed(failed, error) && !isRefused) throw failedAt(error, failed);
      await runStatements(client, [plain(nowhere, "ROLLBACK")]);
    }
  }
}
