import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { selfSigned } from "../support/certificates.js";
import { sharedChannelModule } from "../support/shared-channel-module.js";
import { tempFolder } from "../support/temp-folder.js";

/** A running agent in which each instrument has series, those included that need an event, a fault or a plugin of others. */
export async function agentWithEverything(context: TestContext): Promise<AgentProcess> {
  const folder = await tempFolder(context);
  const { key, cert } = selfSigned("localhost");
  await writeFile(join(folder, "key.pem"), key);
  await writeFile(join(folder, "cert.pem"), cert);
  const plugins = join(folder, "plugins", "refusing");
  await mkdir(plugins, { recursive: true });
  await writeFile(join(plugins, "index.js"), refusingSink);
  const shared = join(folder, "plugins", "shared");
  await mkdir(shared, { recursive: true });
  await writeFile(join(shared, "index.js"), sharedChannelModule);
  const agent = await startAgent(context, {
    properties: propertiesOf(folder),
    folder,
    flags: ["--plugins", join(folder, "plugins"), "--reload-interval", "0", "--tracing", "true"],
    env: { OTEL_TRACES_SAMPLER: "always_off" },
  });
  await notify(agent);
  agent.process.kill("SIGHUP");
  return agent;
}

/** Of three sinks one stores, one refuses the data, and the store of one is away. */
function propertiesOf(folder: string): string {
  return `
a.sources = http-source tls
a.channels = c1 c2 c3 c4
a.sinks = stored refused away
a.sources.http-source.type = http
a.sources.http-source.bind = 127.0.0.1
a.sources.http-source.port = 0
a.sources.http-source.channels = c1 c2 c3
a.sources.http-source.handler = ngsi
a.sources.tls.type = http
a.sources.tls.bind = 127.0.0.1
a.sources.tls.port = 0
a.sources.tls.channels = c1
a.sources.tls.handler = ngsi
a.sources.tls.tls_key = ${join(folder, "key.pem")}
a.sources.tls.tls_certificate = ${join(folder, "cert.pem")}
a.channels.c1.type = file
a.channels.c2.type = memory
a.channels.c2.byteCapacity = 1000000
a.channels.c3.type = spillable
a.channels.c4.type = shared
a.sinks.stored.type = rdb
a.sinks.stored.rdb_dialect = sqlite
a.sinks.stored.channel = c1
a.sinks.refused.type = refusing
a.sinks.refused.channel = c2
a.sinks.away.type = http
a.sinks.away.url = http://127.0.0.1:1/
a.sinks.away.channel = c3
a.sinks.away.batch_ttl = -1
`;
}

const refusingSink = `export default {
  kind: "sink", type: "refusing", summary: "Refuses all.", stability: "beta", config: {},
  create: (_config, context) => {
    const counter = context.metrics?.counter("refused_events_total", "Events that were refused.");
    return {
      start: async () => {},
      stop: async () => {},
      persist: async ({ events }) => {
        counter?.add(events.length);
        throw Object.assign(new Error("never"), { code: "NEVER", retryable: false });
      },
    };
  },
};
`;

export async function notify({ notifyUrl }: Pick<AgentProcess, "notifyUrl">): Promise<number> {
  const entity = { id: "urn:ngsi-ld:Room:1", type: "Room", temperature: { type: "Property", value: 21 } };
  const { status } = await fetch(notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Fiware-Service": "openiot" },
    body: JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data: [entity] }),
  });
  return status;
}

/** What the agent answers to a scrape. */
export async function scraped({ managementUrl }: Pick<AgentProcess, "managementUrl">): Promise<string> {
  return await (await fetch(`${managementUrl}/metrics`)).text();
}
