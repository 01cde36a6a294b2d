import type { TestContext } from "node:test";
import { freePort } from "../../support/free-port.js";
import type { OwnNats } from "../../support/own-nats.js";
import { until } from "../../support/until.js";
import { administer } from "./administration.js";
import { ownNats } from "./nats.js";

const SERVERS = 3;
const START_MILLIS = 120_000;
const LATE_MILLIS = 10_000;

/**
 * Three servers that elect leaders; undefined, and the test skipped, where no server is installed. With `late` the first of
 * them does not run, and the others have not heard of it.
 */
export async function natsCluster(context: TestContext, late = false): Promise<readonly OwnNats[] | undefined> {
  const ports = await Promise.all(Array.from({ length: SERVERS }, () => freePort("127.0.0.1")));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(", ");
  const servers: OwnNats[] = [];
  for (const [index, port] of ports.entries()) {
    const server = await ownNats(context, {
      lines: [
        `server_name: "n${index}"`,
        `cluster { name: "deneb", listen: "127.0.0.1:${port}", routes: [${routes}], no_advertise: true }`,
      ],
    });
    if (server === undefined) return undefined;
    servers.push(server);
    if (late && index === 0) await server.halt();
  }
  // Two servers that have never heard of a third one have a leader in 2.9 and 2.10, and none in 2.15.
  if (late) await Promise.allSettled(servers.slice(1).map((server) => led(server, LATE_MILLIS)));
  else {
    await Promise.all(servers.map((server) => led(server, START_MILLIS)));
    await formed(servers);
  }
  return servers;
}

/** A leader may not know of all servers yet: it refuses streams with as many replicas. */
async function formed([server]: readonly OwnNats[]): Promise<void> {
  const url = server?.url ?? "";
  const stream = { name: "trial", subjects: ["trial"], storage: "memory", num_replicas: SERVERS };
  await until(
    () => administer(url, "STREAM.CREATE.trial", stream).catch(() => ({ error: "away" })),
    (answer) => !("error" in answer),
    START_MILLIS,
  );
  await administer(url, "STREAM.DELETE.trial");
}

async function led({ url }: OwnNats, within: number): Promise<void> {
  await until(
    () => administer(url, "INFO").catch(() => ({ error: "away" })),
    (answer) => !("error" in answer),
    within,
  );
}

/** Resolves when every server has all records of the stream; nothing may be appended meanwhile. */
export async function caughtUp(servers: readonly string[], stream: string): Promise<void> {
  await until(
    async () => await Promise.any(servers.map((server) => lagging(server, stream))).catch(() => ["no answer"]),
    (behind) => behind.length === 0,
    START_MILLIS,
  );
}

async function lagging(server: string, stream: string): Promise<readonly string[]> {
  const { cluster } = await administer(server, `STREAM.INFO.${stream}`);
  if (typeof cluster !== "object" || cluster === null || !("replicas" in cluster)) return ["no leader"];
  if (!Array.isArray(cluster.replicas)) return ["no replicas"];
  const replicas: readonly { readonly name: string; readonly current: boolean; readonly lag?: number }[] =
    cluster.replicas;
  return replicas.filter(({ current, lag = 0 }) => !current || lag > 0).map(({ name }) => name);
}
