import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { selfSigned } from "../support/certificates.js";
import { tempFolder } from "../support/temp-folder.js";

const DAY = 86_400_000;
export const READ_TOKEN = "for-reading";
const TOKEN = "right";
/** Milliseconds between two rounds of notifications. */
const PAUSE = 400;

export interface FaultyAgent extends AgentProcess {
  /** Sends one notification whose event the sink `refusing` refuses. */
  refuseOne(): Promise<void>;
}

/** An agent in which almost everything is wrong, and senders that go on until the test ends. */
export async function faultyAgent(context: TestContext, dataDir?: string): Promise<FaultyAgent> {
  const folder = await tempFolder(context);
  await certificateFiles(folder, "expired", new Date(Date.now() - DAY));
  await certificateFiles(folder, "expiring", new Date(Date.now() + 5 * DAY));
  for (const [name, text] of Object.entries(plugins)) {
    await mkdir(join(folder, "plugins", name), { recursive: true });
    await writeFile(join(folder, "plugins", name, "index.js"), text);
  }
  const agent = await startAgent(context, {
    properties: propertiesOf(folder),
    folder,
    env: { DENEB_MANAGEMENT_READ_TOKENS: READ_TOKEN },
    flags: [
      ...["--plugins", join(folder, "plugins"), "--start-timeout", "3", "--dead-letter-bytes", "10000"],
      ...(dataDir === undefined ? [] : ["--data-dir", dataDir]),
    ],
  });
  const timer = setInterval(() => void sendAll(agent), PAUSE);
  context.after(() => clearInterval(timer));
  return { ...agent, refuseOne: () => post(addressOf(agent, "poison"), notification, {}) };
}

async function certificateFiles(folder: string, name: string, expires: Date): Promise<void> {
  const { key, cert } = selfSigned("localhost", expires);
  await writeFile(join(folder, `${name}.key`), key);
  await writeFile(join(folder, `${name}.pem`), cert);
}

/** One round: a good notification for each source that takes some, and bad ones. */
async function sendAll(agent: AgentProcess): Promise<void> {
  const to = (source: string) => addressOf(agent, source);
  const authorization = `Bearer ${TOKEN}`;
  const calls = [
    post(to("http-source"), notification, {}),
    post(to("http-source"), "no notification", {}),
    post(to("token"), notification, { authorization }),
    post(to("token"), notification, { authorization: "Bearer wrong" }),
    post(to("full"), notification, {}),
    post(to("routed"), notification, {}),
    ...Array.from({ length: 3 }, () => post(to("limited"), notification, {})),
    fetch(`${agent.managementUrl}/v1/stats`, { headers: { authorization: "Bearer guessed" } }),
  ];
  await Promise.allSettled(calls);
}

async function post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const all = { "Content-Type": "application/json", "Fiware-Service": "openiot", ...headers };
  await (await fetch(url, { method: "POST", headers: all, body })).arrayBuffer();
}

function addressOf({ lines }: AgentProcess, source: string): string {
  const listening = lines.find(({ component, msg }) => component === source && msg === "listening");
  return `http://127.0.0.1:${listening?.["port"]}/notify`;
}

const notification = JSON.stringify({
  id: "urn:n:1",
  type: "Notification",
  subscriptionId: "urn:s:1",
  data: [{ id: "urn:ngsi-ld:Room:1", type: "Room", temperature: { type: "Property", value: 21 } }],
});

const httpSource = (name: string, channels: string, more = "") => `
a.sources.${name}.type = http
a.sources.${name}.bind = 127.0.0.1
a.sources.${name}.port = 0
a.sources.${name}.channels = ${channels}
a.sources.${name}.handler = ngsi
${more}`;

function propertiesOf(folder: string): string {
  const tls = (name: string) =>
    `a.sources.${name}.tls_key = ${join(folder, `${name}.key`)}
a.sources.${name}.tls_certificate = ${join(folder, `${name}.pem`)}`;
  return `
a.sources = http-source poison token full limited routed expired expiring noisy hanging
a.channels = good poison small waiting rows silent
a.sinks = stored refusing stuck away database mute
${httpSource("http-source", "good waiting rows silent")}
${httpSource("poison", "poison")}
${httpSource("token", "good", `a.sources.token.token = ${TOKEN}`)}
${httpSource("full", "small")}
${httpSource("limited", "good", "a.sources.limited.quota.events_per_second = 1\na.sources.limited.quota.burst = 1")}
${httpSource("routed", "good", "a.sources.routed.selector.type = multiplexing\na.sources.routed.selector.header = fiware-service")}
a.sources.routed.selector.mapping.other = good
${httpSource("expired", "good", tls("expired"))}
${httpSource("expiring", "good", tls("expiring"))}
a.sources.noisy.type = noisy
a.sources.noisy.channels = good
a.sources.hanging.type = hanging
a.sources.hanging.channels = good
a.channels.good.type = file
a.channels.poison.type = memory
a.channels.small.type = memory
a.channels.small.capacity = 2
a.channels.small.transactionCapacity = 2
a.channels.small.keep-alive = 0
a.channels.waiting.type = file
a.channels.rows.type = file
a.sinks.database.type = rdb
a.sinks.database.rdb_host = 127.0.0.1
a.sinks.database.rdb_port = 1
a.sinks.database.channel = rows
a.channels.silent.type = file
a.sinks.mute.type = mute
a.sinks.mute.channel = silent
a.sinks.stored.type = rdb
a.sinks.stored.rdb_dialect = sqlite
a.sinks.stored.channel = good
a.sinks.refusing.type = refusing
a.sinks.refusing.channel = poison
a.sinks.stuck.type = http
a.sinks.stuck.url = http://127.0.0.1:1/
a.sinks.stuck.channel = small
a.sinks.stuck.batch_ttl = -1
a.sinks.away.type = http
a.sinks.away.url = http://127.0.0.1:1/
a.sinks.away.channel = waiting
`;
}

const declared = 'summary: "For a test.", stability: "beta", config: {}';

const plugins = {
  refusing: `export default { kind: "sink", type: "refusing", ${declared}, create: () => ({
    start: async () => {},
    stop: async () => {},
    persist: async () => { throw Object.assign(new Error("never"), { code: "NEVER", retryable: false }); },
  }) };`,
  mute: `export default { kind: "sink", type: "mute", ${declared}, create: () => ({
    start: async () => {},
    stop: async () => {},
    persist: () => new Promise(() => {}),
  }) };`,
  noisy: `export default { kind: "source", type: "noisy", ${declared},
  create: (_config, context) => {
    let timer;
    return {
      start: async () => {
        context.report({ state: "degraded", reason: "noise" });
        timer = setInterval(() => {
          throw new Error("not caught");
        }, ${PAUSE});
      },
      stop: async () => clearInterval(timer),
    };
  } };`,
  hanging: `export default { kind: "source", type: "hanging", ${declared}, create: () => ({
    start: () => new Promise(() => {}),
    stop: async () => {},
  }) };`,
} as const;
