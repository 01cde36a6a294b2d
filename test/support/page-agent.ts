import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "node:test";
import { type AgentProcess, startAgent } from "./agent-process.js";
import { tempFolder } from "./temp-folder.js";
import { until } from "./until.js";

/** An agent as a process, whose page is looked at. */
export interface PageAgent {
  readonly agent: AgentProcess;
  readonly folder: string;
  /** Posts a notification of one entity; resolves to the status. */
  notify(entity: string, service?: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Writes the properties file, with these lines more; lines of the same key replace those of before. */
  configure(...lines: readonly string[]): Promise<void>;
  /** Has the agent go to the file: again, where it had too little time for that on a busy machine. */
  reload(): Promise<void>;
}

interface Given {
  readonly lines?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** The folder of an agent of before, which it goes on with. */
  readonly folder?: string;
}

/** One http source, a channel and a sink that stores the service `good` in SQLite and refuses any other. */
export async function pageAgent(
  context: Pick<TestContext, "after">,
  { lines = [], env = {}, flags = [], folder: given }: Given = {},
) {
  const folder = given ?? (await tempFolder(context));
  const properties = (more: readonly string[]) => merged([...base(folder), ...lines, ...more]);
  const agent = await startAgent(context, {
    properties: properties([]),
    folder,
    env: { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "2", ...env },
    flags: ["--logging", path.join(folder, "logging.json"), ...flags],
  });
  const result: PageAgent = {
    agent,
    folder,
    notify: (entity, service = "good", headers = {}) =>
      notify(agent.notifyUrl, entity, { "Fiware-Service": service, ...headers }),
    configure: (...more) => writeFile(path.join(folder, "agent.properties"), properties(more)),
    reload: async () => {
      await until(
        async () => (await fetch(`${agent.managementUrl}/v1/admin/reload`, { method: "POST" })).status,
        (status) => status === 200,
      );
    },
  };
  return result;
}

/** A number of channels more, each with a sink that logs. */
export function loggerSinks(pairs: number): readonly string[] {
  const numbers = Array.from({ length: pairs }, (_, index) => index + 1);
  const channels = ["queue", ...numbers.map((n) => `c${n}`)].join(" ");
  return [
    `deneb.channels = ${channels}`,
    `deneb.sinks = ${["store", ...numbers.map((n) => `k${n}`)].join(" ")}`,
    `deneb.sources.http-source.channels = ${channels}`,
    ...numbers.flatMap((n) => [
      `deneb.channels.c${n}.type = memory`,
      `deneb.sinks.k${n}.type = logger`,
      `deneb.sinks.k${n}.channel = c${n}`,
    ]),
  ];
}

function base(folder: string): readonly string[] {
  return [
    "deneb.sources = http-source",
    "deneb.channels = queue",
    "deneb.sinks = store",
    "deneb.sources.http-source.type = http",
    "deneb.sources.http-source.bind = 127.0.0.1",
    "deneb.sources.http-source.port = 0",
    "deneb.sources.http-source.channels = queue",
    "deneb.sources.http-source.handler = ngsi",
    "deneb.channels.queue.type = memory",
    "deneb.sinks.store.type = rdb",
    "deneb.sinks.store.channel = queue",
    "deneb.sinks.store.rdb_dialect = sqlite",
    `deneb.sinks.store.rdb_folder = ${path.join(folder, "rows")}`,
    "deneb.sinks.store.data_model = dm-by-entity-type",
    "deneb.sinks.store.allowed_services = good",
  ];
}

function merged(lines: readonly string[]): string {
  return [...new Map(lines.map((line) => [line.split("=")[0]?.trim(), line])).values()].join("\n");
}

async function notify(url: string, entity: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const data = [{ id: entity, type: "Room", temperature: { type: "Property", value: 21.5 } }];
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data }),
  });
  await response.arrayBuffer();
  return response.status;
}
