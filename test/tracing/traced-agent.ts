import path from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { notification } from "../end-to-end/notification.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import type { Collector } from "../support/collector.js";
import { repositoryRoot } from "../support/repository.js";

/** A trace of a broker. */
export const sent = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
} as const;

/** A source, a channel of this type, and a sink k with these lines. */
export function propertiesWith(channel: "memory" | "file", sink: readonly string[]): string {
  const source = ["type = http", "bind = 127.0.0.1", "port = 0", "channels = c", "handler = ngsi"];
  return [
    "a.sources = http-source",
    "a.channels = c",
    "a.sinks = k",
    ...source.map((line) => `a.sources.http-source.${line}`),
    `a.channels.c.type = ${channel}`,
    "a.sinks.k.channel = c",
    ...sink.map((line) => `a.sinks.k.${line}`),
  ].join("\n");
}

export const sqlite = ["type = rdb", "rdb_dialect = sqlite"] as const;

/** The variables of a traced agent; spans are exported soon. */
export function traced({ endpoint }: Pick<Collector, "endpoint">): Readonly<Record<string, string>> {
  return { DENEB_TRACING: "true", OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: "50" };
}

interface Given {
  readonly properties: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts an agent that writes which modules it had loaded to `modules.json` when it ends. */
export async function startTraced(context: Pick<TestContext, "after">, given: Given): Promise<AgentProcess> {
  const probe = pathToFileURL(path.join(repositoryRoot, "dist/test/support/loaded-modules.js")).href;
  const modules = {
    NODE_OPTIONS: `--import ${probe}`,
    DENEB_TEST_MODULES_FILE: path.join(given.folder, "modules.json"),
  };
  const quick = { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "2" };
  return await startAgent(context, { ...given, env: { ...quick, ...modules, ...given.env } });
}

/** Posts a notification of room n; resolves to the status. */
export async function send(url: string, n: number, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const common = { "Content-Type": "application/ld+json", "Fiware-Service": "openiot" };
  const body = notification(`urn:ngsi-ld:Room:${n}`, n);
  const response = await fetch(url, { method: "POST", headers: { ...common, ...headers }, body });
  await response.arrayBuffer();
  return response.status;
}
