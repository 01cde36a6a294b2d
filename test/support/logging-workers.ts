import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { notification } from "../end-to-end/notification.js";
import { type AgentProcess, startAgent } from "./agent-process.js";
import { loggingAgent } from "./logging-agent.js";
import { teamOf } from "./team.js";
import { tempFolder } from "./temp-folder.js";

/** Its channel is on disk. */
export const durable = loggingAgent.replace("type = memory", "type = file");

/** As `durable`, with a sink that reaches nobody. */
export const nowhere = durable.replace(
  "a.sinks.k.type = logger",
  "a.sinks.k.type = http\na.sinks.k.url = http://127.0.0.1:9/",
);

interface Started {
  /** Absent: the properties say. */
  readonly workers?: number;
  readonly properties?: string;
  readonly folder?: string;
}

/** Starts the agent with workers. */
export async function startWorkers(context: TestContext, { workers, properties = durable, folder }: Started) {
  const own = folder ?? (await tempFolder(context));
  const asked = workers === undefined ? {} : { DENEB_WORKERS: String(workers) };
  const env = { ...asked, DENEB_RELOAD_INTERVAL: "0" };
  return { folder: own, agent: await startAgent(context, { properties, folder: own, env }) };
}

/** Numbered notifications, all accepted. */
export async function postMany(agent: AgentProcess, count: number, first = 1): Promise<void> {
  for (let number = first; number < first + count; number += 1) {
    assert.equal(await postOnce(agent.notifyUrl, number), 200);
  }
}

/** The entities that the logger sink of any worker has got. */
export function roomsOf({ lines }: AgentProcess): ReadonlySet<string> {
  const text = JSON.stringify(lines.filter(({ component }) => component === "k"));
  return new Set([...text.matchAll(/urn:room:\d+/g)].map(([id]) => id));
}

/** On a connection of its own: workers share the port by connections. */
export async function postOnce(url: string, number: number): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/ld+json", Connection: "close" },
    body: notification(`urn:room:${number}`, number),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Stops the process of a worker where it stands, until the test lets it go on or ends; resolves to its number. */
export async function frozen(context: TestContext, agent: AgentProcess, number: number): Promise<number> {
  const { workers } = await teamOf(agent);
  const { pid = 0 } = workers.find((one) => one.number === number) ?? {};
  context.after(() => lives(pid) && process.kill(pid, "SIGKILL"));
  process.kill(pid, "SIGSTOP");
  return pid;
}

export function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
