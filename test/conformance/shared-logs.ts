import { createHash, randomBytes } from "node:crypto";
import { removeStream } from "../plugins/jetstream/administration.js";
import { answersNats, natsOfTests } from "../support/provided-nats.js";
import type { NamedSetup } from "./setups.js";

/**
 * What is declared and how it starts and stops; what such a channel does is tested with
 * test/plugins/jetstream/channel.test.ts, where an agent can be cut off.
 */
export async function onNats(): Promise<NamedSetup> {
  const { host, port } = natsOfTests();
  const server = `nats://${host}:${port}`;
  const run = randomBytes(6).toString("hex");
  const streams = new Set<string>();
  const config = (folder: string) => {
    const stream = `deneb-${run}-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
    streams.add(stream);
    return { servers: [server], stream, partitions: 1 };
  };
  if (!(await answersNats({ host, port }))) return { name: "", setup: { config }, skip: "NATS is not reachable" };
  const stop = async (): Promise<void> => {
    for (const stream of streams) await removeStream(server, stream);
  };
  return { name: "", setup: { config }, stop };
}
