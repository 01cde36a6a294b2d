import path from "node:path";
import type { TestContext } from "node:test";
import { type AgentProcess, startAgent } from "./agent-process.js";
import { type ChannelBooks, settledBooks } from "./channel-books.js";
import { statusOfPost } from "./post-entities.js";
import { postgresqlDatabase, type TestDatabase } from "./postgresql.js";
import { tempFolder } from "./temp-folder.js";

/** An agent as a process that stores in a database of its own. */
export interface StoringAgent {
  readonly agent: AgentProcess;
  readonly database: TestDatabase;
  readonly folder: string;
  readonly propertiesFile: string;
  /** Text of the properties file with some lines more, which win. */
  properties(...lines: readonly string[]): string;
  /** Posts one notification; resolves to the status. */
  post(entities: readonly object[]): Promise<number>;
  ask(method: string, path: string): Promise<Reply>;
  /** Waits until the ledger says that nothing waits. */
  settled(): Promise<ChannelBooks>;
}

interface Given {
  readonly lines?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Asserted on, member by member. */
type Reply = ReturnType<typeof JSON.parse>;

/** Undefined when there is no PostgreSQL for the tests. */
export async function storingAgent(
  context: TestContext,
  ...lines: readonly string[]
): Promise<StoringAgent | undefined> {
  return await storingAgentWith(context, { lines });
}

/** The same with an environment. */
export async function storingAgentWith(context: TestContext, given: Given): Promise<StoringAgent | undefined> {
  const database = await postgresqlDatabase();
  if (database === undefined) {
    context.skip("needs PostgreSQL");
    return undefined;
  }
  context.after(() => database.drop());
  const folder = await tempFolder(context);
  const properties = (...more: readonly string[]) =>
    merged([...propertiesFor(database).split("\n"), ...(given.lines ?? []), ...more]);
  const env = { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "2", ...given.env };
  const agent = await startAgent(context, { properties: properties(), folder, env });
  const ask = async (method: string, target: string): Promise<Reply> =>
    JSON.parse(await (await fetch(`${agent.managementUrl}${target}`, { method })).text());
  return {
    agent,
    database,
    folder,
    propertiesFile: path.join(folder, "agent.properties"),
    properties,
    post: (entities) => statusOfPost(agent.notifyUrl, entities),
    ask,
    settled: () => settledBooks(agent),
  };
}

/** Of lines with one key the last; a line that is only a key takes the one before away. */
function merged(lines: readonly string[]): string {
  const last = new Map(lines.map((line) => [line.split("=")[0]?.trim(), line]));
  return [...last.values()].filter((line) => line.includes("=")).join("\n");
}

function propertiesFor({ host, port, user, password, database }: TestDatabase): string {
  return `
deneb.sources = http-source
deneb.channels = c
deneb.sinks = rdb-sink
deneb.sources.http-source.type = http
deneb.sources.http-source.channels = c
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.handler = ngsi
deneb.sources.http-source.handler.default_service = svc
deneb.channels.c.type = memory
deneb.channels.c.capacity = 20000
deneb.channels.c.transactionCapacity = 1000
deneb.sinks.rdb-sink.type = rdb
deneb.sinks.rdb-sink.channel = c
deneb.sinks.rdb-sink.rdb_host = ${host}
deneb.sinks.rdb-sink.rdb_port = ${port}
deneb.sinks.rdb-sink.rdb_username = ${user}
deneb.sinks.rdb-sink.rdb_password = ${password}
deneb.sinks.rdb-sink.rdb_database = ${database}
deneb.sinks.rdb-sink.data_model = dm-by-entity-type
deneb.sinks.rdb-sink.batch_ttl = -1
deneb.sinks.rdb-sink.batch_retry_intervals = 100`;
}

/** Room number n of the tests. */
export function room(n: number, value: string | number = n): object {
  return { id: `urn:room:${n}`, type: "Room", value: { type: "Property", value } };
}
