import type { TestDatabase } from "../support/postgresql.js";

type Server = Pick<TestDatabase, "host" | "port" | "user" | "password" | "database">;

/** An agent with one http source, one channel of a type, and one rdb sink `s` that retries without limit. */
export function oneSinkLines({ host, port, user, password, database }: Server, type: string): readonly string[] {
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
    `deneb.sinks.s.rdb_host = ${host}`,
    `deneb.sinks.s.rdb_port = ${port}`,
    `deneb.sinks.s.rdb_username = ${user}`,
    `deneb.sinks.s.rdb_password = ${password}`,
    `deneb.sinks.s.rdb_database = ${database}`,
    "deneb.sinks.s.rdb_options = sslmode=disable",
    "deneb.sinks.s.data_model = dm-by-entity-type",
    "deneb.sinks.s.batch_ttl = -1",
    "deneb.sinks.s.batch_retry_intervals = 50",
  ];
}
