import type { TestDatabase } from "../../support/postgresql.js";

export interface Way {
  readonly bootstrap: string;
  /** The topic that it reads. */
  readonly topic: string;
  /** The topic of its channel. */
  readonly log: string;
}

/** The properties of an agent that stores what clients and a topic send it as rows of svc.room, with a log in Kafka between. */
export function agentProperties(
  { host, port, user, password, database }: TestDatabase,
  { bootstrap, topic, log }: Way,
): string {
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
deneb.sinks.s.rdb_host = ${host}
deneb.sinks.s.rdb_port = ${port}
deneb.sinks.s.rdb_username = ${user}
deneb.sinks.s.rdb_password = ${password}
deneb.sinks.s.rdb_database = ${database}
deneb.sinks.s.data_model = dm-by-entity-type`;
}

/** How many rows there are, and with how many values of `n`. */
export async function storedIn(database: TestDatabase): Promise<{ readonly rows: number; readonly different: number }> {
  try {
    const [counts] = await database.query("SELECT count(*) AS rows, count(DISTINCT n) AS different FROM svc.room");
    return { rows: Number(counts?.["rows"]), different: Number(counts?.["different"]) };
  } catch {
    return { rows: 0, different: 0 }; // The table is not there yet.
  }
}
