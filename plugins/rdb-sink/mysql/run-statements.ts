import { codeOf } from "deneb/sdk";
import { type Cell, type Statement, unexpectedChanges } from "deneb/sql";
import type { Connection as Callbacks } from "mysql2";
import type { Connection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { awaitCommits, isOfCommitWait } from "./commit-wait.js";
import { awaitCluster } from "./settled-reads.js";

/** Reads the rows of all these statements. */
export function asking(statements: readonly Statement[]) {
  return async (connection: Connection): Promise<readonly (readonly Cell[])[]> => {
    const questions = statements.filter((statement) => !isOfCommitWait(statement));
    if (questions.length === statements.length) return await answersTo(connection, questions);
    const ask = () => answersTo(connection, questions);
    await awaitCluster(connection, ask);
    const answers = await ask();
    if (answers.length > 0) await awaitCommits(connection, statements);
    return answers;
  };
}

async function answersTo(
  connection: Connection,
  questions: readonly Statement[],
): Promise<readonly (readonly Cell[])[]> {
  const answers: (readonly Cell[])[] = [];
  for (const { text, runs } of questions)
    for (const run of runs) for (const row of await rowsOf(connection, text, run)) answers.push(row);
  return answers;
}

async function rowsOf(
  connection: Connection,
  text: string,
  run: readonly Cell[],
): Promise<readonly (readonly Cell[])[]> {
  const [rows] = await connection.execute<RowDataPacket[][]>({ sql: text, rowsAsArray: true }, parameters(run));
  return rows.map((row) => row.map((cell) => (cell === null || cell === undefined ? undefined : String(cell))));
}

/** What reports each statement of a text; a promise settles once for all of them. */
const underlying = new WeakMap<Connection, Callbacks>();

/** The connection for {@link sendTogether}. */
export function promised(made: Callbacks): Connection {
  const connection = made.promise();
  underlying.set(connection, made);
  return connection;
}

/** Of the session, in the answers of the server. */
const IN_TRANSACTION = 1;

/** Whether the session is in a transaction after a statement. */
export type Transaction = "open" | "ended";

export function isInTransaction(serverStatus: number): boolean {
  return (serverStatus & IN_TRANSACTION) !== 0;
}

/** Calls `done` for each statement that has succeeded. */
export async function sendTogether(
  connection: Connection,
  text: string,
  done: (transaction: Transaction) => void,
): Promise<void> {
  const own = underlying.get(connection);
  if (own === undefined) throw new Error("a connection of another kind");
  await new Promise<void>((resolve, reject) => {
    own
      .query(text, (error) => (error === null ? resolve() : reject(error)))
      .on("result", (result) => done(stateOf(result)));
  });
}

function stateOf(result: object): Transaction {
  return "serverStatus" in result && isInTransaction(Number(result.serverStatus)) ? "open" : "ended";
}

interface StatementRun {
  readonly statement: Statement;
  readonly run: readonly Cell[];
}

/** One whose outcome is looked at, as that of a position, counts with the statements before it or not at all. */
export async function execute(
  connection: Connection,
  { statement: { text, changes }, run }: StatementRun,
  transaction: Transaction,
): Promise<Transaction> {
  if (changes !== undefined && transaction === "ended") throw transactionGone();
  try {
    const [result] = await connection.execute<ResultSetHeader>(text, parameters(run));
    if (changes === undefined || result.affectedRows === changes) return stateOf(result);
  } catch (error) {
    if (changes === undefined || codeOf(error) !== "ER_DUP_ENTRY") throw error;
  }
  throw unexpectedChanges();
}

function parameters(run: readonly Cell[]): (string | null)[] {
  return run.map((cell) => cell ?? null);
}

function transactionGone(): Error {
  const message = "the server, or a proxy before it, ended the transaction before its end and said nothing";
  return Object.assign(new Error(message), { code: "TRANSACTION_GONE" });
}
