import { after } from "node:test";
import type { Context, Event, TableResult } from "../../../core/sdk/index.js";
import type { Store } from "../../../core/sql/contract/driver.js";
import { SqlStoredData } from "../../../core/sql/features/stored-data/stored-data.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never } from "./sinks.js";

export const server = await postgresqlDatabase();
export const skip = server === undefined ? "PostgreSQL is not reachable" : false;
after(() => server?.drop());

export const base: Partial<RdbConfig> =
  server === undefined
    ? {}
    : {
        rdb_host: server.host,
        rdb_port: server.port,
        rdb_username: server.user,
        rdb_password: server.password,
        rdb_database: server.database,
      };
export const clock = (time: string) => () => new Date(time);
export const noon = "2026-12-31T12:00:00.000Z";

export function at(time: string, service: string, id = "urn:x"): Event {
  const event = eventOf(entity(id, { a: time }), service);
  return { ...event, headers: { ...event.headers, timestamp: String(Date.parse(time)) } };
}

export async function query(text: string) {
  return (await server?.query(text)) ?? [];
}

/** The rows of each partition. */
export async function partitions(table: string) {
  const rows = await query(`
    SELECT c.relname, (SELECT count(*) FROM ${table} x WHERE x.tableoid = c.oid) AS rows
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '${table}'::regclass ORDER BY 1`);
  return rows.map(({ relname, rows: count }) => `${relname}: ${count}`);
}

/** A store whose writes fail after some of them, as when the process is killed. */
function killedAfter(writes: number, store: Store): Store {
  let done = 0;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    if (done === writes) throw new Error("killed");
    done += 1;
    return await work();
  };
  const { driver } = store;
  return {
    ...store,
    driver: {
      probe: (signal) => driver.probe(signal),
      read: (statements, signal) => driver.read(statements, signal),
      write: (statements, signal) => counted(() => driver.write(statements, signal)),
      alone: (statement, signal) => counted(async () => await driver.alone?.(statement, signal)),
      commitUnits: (signal) => driver.commitUnits(signal),
      close: (signal) => driver.close(signal),
    },
  };
}

export async function converted(
  config: Partial<RdbConfig>,
  { sink = "sink", tables = [], dryRun = false, killed = Number.POSITIVE_INFINITY, progress }: Converting = {},
): Promise<readonly TableResult[]> {
  const data = storedData({ partition: "day", ...config }, { sink, killed });
  try {
    return await data.partition(tables, dryRun, never, progress);
  } finally {
    await data.close();
  }
}

/** What the list says of these tables of the sink. */
export async function listedTables(tables: readonly string[]) {
  const data = storedData({}, { sink: "sink", killed: Number.POSITIVE_INFINITY });
  try {
    return await data.tables({ tables }, never);
  } finally {
    await data.close();
  }
}

function storedData(config: Partial<RdbConfig>, { sink, killed }: Required<Pick<Converting, "sink" | "killed">>) {
  const full = configOf({ ...base, ...config });
  const context: Context = { name: sink, log: recordingLog().log, dataDir: "", run: "run", now: clock(noon) };
  return new SqlStoredData(full, context, killedAfter(killed, databases.postgresql.open(full, context)));
}

interface Converting {
  readonly sink?: string;
  readonly tables?: readonly string[];
  readonly dryRun?: boolean;
  readonly killed?: number;
  readonly progress?: (done: number, all: number) => void;
}
