import path from "node:path";
import Database from "libsql";
import type { TestDatabase } from "../../support/postgresql.js";

export interface Way {
  readonly bootstrap: string;
  /** The topic that it reads. */
  readonly topic: string;
  /** The topic of its channel. */
  readonly log: string;
}

/** How many rows there are, and with how many values of `n`. */
export interface Stored {
  readonly rows: number;
  readonly different: number;
}

/** Where the rows of svc.room come to be. */
export interface RowStore {
  /** Properties of the sink `s`. */
  readonly lines: readonly string[];
  stored(): Promise<Stored>;
}

export function inPostgresql(database: TestDatabase): RowStore {
  const { host, port, user, password } = database;
  return {
    lines: [
      `deneb.sinks.s.rdb_host = ${host}`,
      `deneb.sinks.s.rdb_port = ${port}`,
      `deneb.sinks.s.rdb_username = ${user}`,
      `deneb.sinks.s.rdb_password = ${password}`,
      `deneb.sinks.s.rdb_database = ${database.database}`,
    ],
    stored: () => counted(async () => (await database.query(`${COUNT} FROM svc.room`))[0]),
  };
}

/** The files of a folder. */
export function inSqlite(folder: string): RowStore {
  return {
    lines: ["deneb.sinks.s.rdb_dialect = sqlite", `deneb.sinks.s.rdb_folder = ${folder}`],
    stored: () =>
      counted(async () => {
        const file = new Database(path.join(folder, "svc.db"));
        try {
          return file.prepare(`${COUNT} FROM room`).get();
        } finally {
          file.close();
        }
      }),
  };
}

/** The properties of an agent that stores what clients and a topic send it as rows of svc.room, with a log in Kafka between. */
export function agentProperties({ lines }: RowStore, { bootstrap, topic, log }: Way): string {
  return `
deneb.sources = http-source k
deneb.channels = c
deneb.sinks = s
deneb.sources.http-source.type = http
deneb.sources.http-source.channels = c
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.handler = ngsi
deneb.sources.http-source.handler.ngsi_version = auto
deneb.sources.k.type = kafka
deneb.sources.k.channels = c
deneb.sources.k.bootstrap_servers = ${bootstrap}
deneb.sources.k.topics = ${topic}
deneb.sources.k.group = ${topic}
deneb.sources.k.service = svc
deneb.sources.k.handler = ngsi
deneb.sources.k.handler.ngsi_version = auto
deneb.channels.c.type = kafka
deneb.channels.c.bootstrap_servers = ${bootstrap}
deneb.channels.c.topic = ${log}
deneb.sinks.s.type = rdb
deneb.sinks.s.channel = c
${lines.join("\n")}
deneb.sinks.s.data_model = dm-by-entity-type`;
}

const COUNT = "SELECT count(*) AS rows, count(DISTINCT n) AS different";

async function counted(query: () => Promise<unknown>): Promise<Stored> {
  try {
    const counts = Object(await query());
    return { rows: Number(counts["rows"]), different: Number(counts["different"]) };
  } catch {
    return { rows: 0, different: 0 }; // The table is not there yet.
  }
}
