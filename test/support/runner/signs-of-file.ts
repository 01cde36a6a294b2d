import pg from "pg";
import { serverOfTests } from "../postgresql.js";
import { runningProcesses } from "../processes.js";

const MOST_LINES = 20;
const MOST_CHARACTERS = 300;
const ANSWER_MILLIS = 2000;

/** What is known from outside of a test file that does not end: its processes, and what PostgreSQL works on. */
export async function signsOf(file: string): Promise<readonly string[]> {
  const [processes, statements] = await Promise.all([processesOf(file), statementsAtWork()]);
  return [...processes, ...statements].map((line) => line.slice(0, MOST_CHARACTERS));
}

/** The process that runs the file, and those that it started. */
async function processesOf(file: string): Promise<readonly string[]> {
  const all = await runningProcesses();
  const wanted = new Set(all.filter(({ text }) => text.includes(file)).map(({ id }) => id));
  for (let size = 0; size < wanted.size; ) {
    size = wanted.size;
    for (const { id, parent } of all) if (wanted.has(parent)) wanted.add(id);
  }
  return all
    .filter(({ id }) => wanted.has(id))
    .slice(0, MOST_LINES)
    .map(({ id, parent, text }) => `process ${id} of ${parent}: ${text}`);
}

async function statementsAtWork(): Promise<readonly string[]> {
  const limits = { connectionTimeoutMillis: ANSWER_MILLIS, query_timeout: ANSWER_MILLIS };
  const client = new pg.Client({ ...serverOfTests(), database: "postgres", ...limits });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly line: string }>(
      `SELECT format('PostgreSQL, %s, %s %s, for %s: %s', datname, state, wait_event, now() - state_change,
         regexp_replace(query, '\\s+', ' ', 'g')) AS line
       FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid() ORDER BY state_change LIMIT ${MOST_LINES}`,
    );
    return rows.map(({ line }) => line);
  } catch (error) {
    return [`PostgreSQL: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await client.end().catch(() => {});
  }
}
