import { codeOf } from "deneb/sdk";
import { type Cell, plain, type Statement } from "deneb/sql";
import type pg from "pg";
import { answered, confirmed } from "./answered.js";
import { isSqlState } from "./errors.js";
import type { CopyOf } from "./messages.js";
import { type PipelineResult, PostgresqlPipeline } from "./pipeline.js";
import { type CopyableStatement, path } from "./statements.js";

const nowhere = { database: "", schema: "" } as const;

/**
 * The process that answers, then the tables with rules, which COPY would not follow. Asked once for each connection: a rule that is
 * made later counts from the next one on.
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

/** By row security, by what is no table, and by a generated column, of which the INSERT says more. */
const OF_ONE_TABLE = new Set(["0A000", "42809", "42P10"]);
/** By servers that speak the protocol and have no such COPY. */
const OF_ALL_TABLES = new Set(["42601", "08P01"]);
/** After that the connection copies nothing. */
const MOST_REFUSED = 10;

/** Which tables one connection takes rows of by COPY. */
class Copies {
  readonly #without: Set<string>;
  readonly #most: number;
  #isOff: boolean;

  constructor(isOff: boolean, ruled: readonly string[]) {
    this.#isOff = isOff;
    this.#without = new Set(ruled);
    this.#most = ruled.length + MOST_REFUSED;
  }

  readonly of: CopyOf = (statement) => {
    if (this.#isOff || statement.changes !== undefined || !isCopyable(statement)) return undefined;
    return this.#without.size > 0 && this.#without.has(tableOf(statement)) ? undefined : statement.copy;
  };

  /** Whether the statement may succeed without COPY, which is not tried for it again. */
  refused(statement: Statement | undefined, error: unknown): boolean {
    if (statement === undefined || !isCopyable(statement) || this.of(statement) === undefined) return false;
    const code = codeOf(error) ?? "";
    if (OF_ONE_TABLE.has(code)) this.#without.add(tableOf(statement));
    else if (!OF_ALL_TABLES.has(code)) return false;
    this.#isOff = OF_ALL_TABLES.has(code) || this.#without.size > this.#most;
    return true;
  }
}

function isCopyable(statement: Statement): statement is CopyableStatement {
  return "copy" in statement;
}

function tableOf({ at }: CopyableStatement): string {
  return path(at);
}

function hasSeveralRows(statements: readonly Statement[]): boolean {
  let rows = 0;
  for (const one of statements) if (isCopyable(one)) rows += one.runs.length;
  return rows > 1;
}

const known = new WeakMap<pg.ClientBase, Copies>();

/** Nobody else has the connection meanwhile. */
async function copiesOf(client: pg.ClientBase, ask: Ask): Promise<Copies> {
  const before = known.get(client);
  if (before !== undefined) return before;
  const copies = await asked(client, ask);
  known.set(client, copies);
  return copies;
}

/** A pooler between the agent and the server has given a process of its own; some of them do not know COPY in a pipeline. */
async function asked(client: pg.ClientBase, ask: Ask): Promise<Copies> {
  try {
    const [first, ...ruled] = await ask(client, QUESTION);
    const isDirect = first?.[0] === String(Reflect.get(client, "processID"));
    return new Copies(
      !isDirect,
      ruled.map(([schema = "", table = ""]) => path({ database: "", schema, table })),
    );
  } catch (error) {
    // A server without such a catalogue is another one.
    if (!isSqlState(codeOf(error))) throw error;
    return new Copies(true, []);
  }
}

/**
 * Runs a transaction that is not committed yet. Rows go by COPY where the server takes them so, else by their statements, and so does a
 * row that is alone: the answer to a COPY comes in two parts.
 */
export async function answeredByCopies(
  client: pg.ClientBase,
  statements: readonly Statement[],
  ask: Ask,
): Promise<PipelineResult> {
  if (!hasSeveralRows(statements)) return await answered(client, statements);
  const copies = await copiesOf(client, ask);
  for (;;) {
    const pipeline = new PostgresqlPipeline(statements, copies.of);
    try {
      return await confirmed(client, pipeline);
    } catch (error) {
      // Each refusal leaves fewer statements to refuse.
      if (!copies.refused(pipeline.failed, error)) throw error;
      await answered(client, [plain(nowhere, "ROLLBACK")]);
    }
  }
}
