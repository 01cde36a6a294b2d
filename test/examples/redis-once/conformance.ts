import { randomUUID } from "node:crypto";
import { createClient } from "@redis/client";
import { markOf, type PluginSetup } from "deneb/sdk/testing";

const { DENEB_TEST_REDIS_HOST = "127.0.0.1", DENEB_TEST_REDIS_PORT = "6379" } = process.env;
const url = `redis://${DENEB_TEST_REDIS_HOST}:${DENEB_TEST_REDIS_PORT}`;

/** How the conformance suites test this plugin; `deneb plugin test` reads it, too. */
export const setup: PluginSetup = {
  async openStore() {
    const stream = `deneb-conformance-${randomUUID()}`;
    const client = createClient({ url });
    client.on("error", () => undefined);
    await client.connect();
    return {
      config: { url, stream },
      readBack: async () => {
        const entries = await client.xRange(stream, "-", "+");
        return (entries ?? []).map(({ message }) => markOf(JSON.parse(message["event"] ?? "")));
      },
      unreachable: { url: "redis://127.0.0.1:1" },
      // The sink names its connections after its stream.
      interrupt: async () => {
        const open = await client.clientList();
        for (const { id, name } of open) if (name === stream) await client.clientKill({ filter: "ID", id });
      },
      close: async () => {
        const keys = await client.keys(`${stream}*`);
        if (keys.length > 0) await client.del(keys);
        client.destroy();
      },
    };
  },
};
