import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../support/until.js";
import type { BenchCase } from "./case.js";
import { apiOf } from "./requests.js";
import { type ServerProcess, startServer } from "./server-process.js";
import type { BenchStore } from "./store.js";

/** What the agent has done since it was started, or since its durable channel was made. */
export interface Ledger {
  readonly received: number;
  readonly stored: number;
}

/** An agent that runs, with the means to look into it. */
export interface AgentProcess {
  readonly server: ServerProcess;
  readonly notifyUrl: string;
  /** Milliseconds since 1970 at which the process was started. */
  readonly startedAt: number;
  ledger(): Promise<Ledger>;
}

export interface AgentOrder {
  readonly bench: BenchCase;
  /** Holds the properties file and the data directory. */
  readonly folder: string;
  readonly store: BenchStore;
  /** Properties of the sink in place of those of the store and the case. */
  readonly sink?: Readonly<Record<string, string>>;
  /** Properties of the channel beside those of the case. */
  readonly channel?: Readonly<Record<string, string>>;
  /** What the agent does: it receives and stores, or one of the two. */
  readonly does?: "both" | "receives" | "stores";
  readonly flags?: readonly string[];
  /** The agent answers questions about its memory, and collects its garbage before. */
  readonly probed?: boolean;
  /** Further options of Node. */
  readonly node?: readonly string[];
}

/** Starts the agent of this tree as a user would, and waits until its source listens: a broker waits for nothing more. */
export async function startAgentProcess(order: AgentOrder): Promise<AgentProcess> {
  const { folder, flags = [], probed = false, node = [] } = order;
  const file = path.join(folder, "agent.properties");
  await mkdir(folder, { recursive: true });
  await writeFile(file, propertiesOf(order));
  const probe = probed ? ["--expose-gc", "--import", scriptAt("./memory-probe.js")] : [];
  const data = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
  const startedAt = Date.now();
  const server = await startServer(
    [...probe, ...node, scriptAt("../../core/main.js"), "run", ...data, ...flags],
    portReader(),
  );
  const statisticsUrl = `http://127.0.0.1:${server.ready["management"]}/v1/stats`;
  return {
    server,
    startedAt,
    notifyUrl: `http://127.0.0.1:${server.ready["http-source"]}/notify`,
    ledger: async () => {
      // Until the agent is ready the interface has no answer.
      const answer = await until(
        () => fetch(statisticsUrl),
        ({ status }) => status === 200,
      );
      const { stats } = JSON.parse(await answer.text());
      const [{ received, stored }] = stats.ledger.channels;
      return { received, stored };
    },
  };
}

function propertiesOf({ bench, store, sink = {}, channel = {}, does = "both" }: AgentOrder): string {
  const storing = {
    type: "rdb",
    channel: "test-channel",
    rdb_dialect: bench.database,
    attr_persistence: "column",
    ...store.properties,
    ...bench.sink,
    ...sink,
  };
  const receivesOnly = does === "receives";
  const sections: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "": {
      sources: "http-source",
      channels: receivesOnly ? "test-channel,unused" : "test-channel",
      sinks: receivesOnly ? "logger" : "rdb-sink",
    },
    "sources.http-source.": {
      type: "http",
      channels: "test-channel",
      bind: "127.0.0.1",
      port: "0",
      handler: "ngsi",
      "handler.ngsi_version": apiOf(bench.bodies),
      interceptors: "ts",
      "interceptors.ts.type": "timestamp",
    },
    "channels.test-channel.": { type: bench.channel, ...bench.buffer, ...channel },
    ...(receivesOnly ? unused : { "sinks.rdb-sink.": storing }),
  };
  const lines = Object.entries(sections).flatMap(([prefix, values]) =>
    Object.entries(values).map(([key, value]) => `deneb.${prefix}${key} = ${value}`),
  );
  return lines.join("\n");
}

/** An agent has a sink. */
const unused = {
  "channels.unused.": { type: "memory" },
  "sinks.logger.": { type: "logger", channel: "unused" },
};

/** Collects the ports from the log lines of the agent. */
function portReader(): (line: string) => Readonly<Record<string, number>> | undefined {
  const ports: Record<string, number> = {};
  return (line) => {
    const { component, port } = JSON.parse(line);
    if (typeof port === "number") ports[component] = port;
    return needed.every((name) => ports[name] !== undefined) ? ports : undefined;
  };
}

const needed = ["management", "http-source"];

const scriptAt = (script: string) => fileURLToPath(new URL(script, import.meta.url));
