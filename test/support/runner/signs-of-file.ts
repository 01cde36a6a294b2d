import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { serverOfTests } from "../postgresql.js";

const run = promisify(execFile);

const MOST_LINES = 20;
const MOST_CHARACTERS = 300;
const ANSWER_MILLIS = 2000;

/** A process as ps shows it: where it waits tells one that waits for an event from one that is stuck in a call. */
interface Shown {
  readonly id: number;
  readonly parent: number;
  readonly text: string;
}

/** What is known from outside of a test file that does not end: its processes, and what PostgreSQL works on. */
export async function signsOf(file: string): Promise<readonly string[]> {
  const [processes, statements] = await Promise.all([processesOf(file), statementsAtWork()]);
  return [...processes, ...statements].map((line) => line.slice(0, MOST_CHARACTERS));
}

/** The process that runs the file, and those that it started. */
async function processesOf(file: string): Promise<readonly string[]> {
  const all = await shown();
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

async function shown(): Promise<readonly Shown[]> {
  const columns = ["pid", "ppid", "stat", "wchan", "etime", "args"].flatMap((name) => ["-o", `${name}=`]);
  const { stdout } = await run("ps", ["-A", "-ww", ...columns], { maxBuffer: 2 ** 24 }).catch(() => ({ stdout: "" }));
  return stdout.split("\n").flatMap((line) => {
    const [, id, parent, text = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return id === undefined ? [] : { id: Number(id), parent: Number(parent), text };
  });
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
