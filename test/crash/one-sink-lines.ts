import type { TestDatabase } from "../support/postgresql.js";

type Server = Pick<TestDatabase, "host" | "port" | "user" | "password" | "database">;

/** An agent with one http source, one channel of a type, and one rdb sink `s` that retries without limit. */
export function oneSinkLines({ host, port, user, password, database }: Server, type: string): readonly string[] {
  return sinkLines(type, {
    rdb_host: host,
    rdb_port: String(port),
    rdb_username: user,
    rdb_password: password,
    rdb_database: database,
    rdb_options: "sslmode=disable",
  });
}

/** The same with the database that these properties of the sink name, and that number of retries. */
export function sinkLines(type: string, database: Readonly<Record<string, string>>, retries = -1): readonly string[] {
  return [
    "deneb.sources = http-source",
    "deneb.channels = c",
    "deneb.sinks = s",
    "deneb.sources.http-source.type = http",
    "deneb.sources.http-source.channels = c",
    "deneb.sources.http-source.bind = 127.0.0.1",
    "deneb.sources.http-source.port = 0",
    "deneb.sources.http-source.handler = ngsi",
    `deneb.channels.c.type = ${type}`,
    "deneb.sinks.s.type = rdb",
    "deneb.sinks.s.channel = c",
    ...Object.entries(database).map(([key, value]) => `deneb.sinks.s.${key} = ${value}`),
    "deneb.sinks.s.data_model = dm-by-entity-type",
    `deneb.sinks.s.batch_ttl = ${retries}`,
    "deneb.sinks.s.batch_retry_intervals = 100",
  ];
}
