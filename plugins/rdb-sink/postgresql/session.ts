import { codeOf } from "deneb/sdk";
import { type Cell, plain, type Statement } from "deneb/sql";
import type pg from "pg";
import { answered, confirmed } from "./answered.js";
import { Copies, haveSeveralRows } from "./copies.js";
import { isSqlState } from "./errors.js";
import { plainly, type Ways } from "./messages.js";
import { mayHaveName, NamedTexts } from "./names.js";
import { type PipelineResult, PostgresqlPipeline } from "./pipeline.js";

const nowhere = { database: "", schema: "" } as const;

/**
 * The process that answers, then the tables with rules. Asked once for each connection: a rule that is made later counts from the next
 * one on.
 */
const QUESTION: readonly Statement[] = [
  plain(nowhere, "SELECT pg_backend_pid()"),
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
}

/** Fewer statements are run as they come, on a connection of which nothing is known. */
const SEVERAL = 3;
const sessions = new WeakMap<pg.ClientBase, Session | "pooled">();

/** Nobody else has the connection meanwhile. */
async function sessionOf(client: pg.ClientBase, ask: Ask): Promise<Session | "pooled"> {
  const session = sessions.get(client) ?? (await asked(client, ask));
  sessions.set(client, session);
  return session;
}

/** A pooler has given a process of its own at the start. It may lend the connection to others, and not know COPY in a pipeline. */
async function asked(client: pg.ClientBase, ask: Ask): Promise<Session | "pooled"> {
  try {
    const [first, ...ruled] = await ask(client, QUESTION);
    if (first?.[0] !== String(Reflect.get(client, "processID"))) return "pooled";
    const tables = ruled.map(([schema = "", table = ""]) => ({ database: "", schema, table }));
    return { copies: new Copies(tables), names: new NamedTexts() };
  } catch (error) {
    // A server without such a catalogue is another one.
    if (!isSqlState(codeOf(error))) throw error;
    return "pooled";
  }
}

/**
 * Runs a transaction that is not committed yet. Rows go by COPY where the server takes them so, and texts that come again and again are
 * read once.
 */
export async function written(
  client: pg.ClientBase,
  statements: readonly Statement[],
  ask: Ask,
): Promise<PipelineResult> {
  const isCopied = haveSeveralRows(statements);
  if (!isCopied && statements.filter(mayHaveName).length < SEVERAL) return await answered(client, statements);
  const session = await sessionOf(client, ask);
  if (session === "pooled") return await answered(client, statements);
  const { copies, names } = session;
  const ways: Ways = { copyOf: isCopied ? copies.of : plainly.copyOf, nameOf: names.of };
  for (;;) {
    const pipeline = new PostgresqlPipeline(statements, ways);
    try {
      const result = await confirmed(client, pipeline);
      names.written();
      return result;
    } catch (error) {
      const { failed } = pipeline;
      // Each refusal leaves fewer statements to refuse.
      if (![copies.refused(failed, error), names.failed(failed, error)].includes(true)) throw error;
      await answered(client, [plain(nowhere, "ROLLBACK")]);
    }
  }
}
