import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { ConformanceStore, Values } from "../../core/testing/index.js";

const POISON = "poison";

interface Sent {
  readonly mark: { readonly value: string };
}

/** An HTTP service that keeps the entities it gets, and takes none of a request with one that it refuses. */
export async function httpStore(config: Values): Promise<ConformanceStore> {
  const marks: string[] = [];
  const server = createServer(async (request, response) => {
    const sent: Sent | readonly Sent[] = JSON.parse(await text(request));
    const own = [sent].flat().map(({ mark }) => mark.value);
    if (own.includes(POISON)) return void response.writeHead(422).end();
    marks.push(...own);
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the service has no port");
  const { port } = address;
  const url = (at: number) => `http://127.0.0.1:${at}/entities`;
  return {
    config: { url: url(port), ...config },
    readBack: async () => marks,
    unreachable: { url: "http://127.0.0.1:1/" },
    tcp: { host: "127.0.0.1", port, through: (way) => ({ url: url(way) }) },
    async interrupt() {
      server.closeAllConnections();
    },
    // Requests for single events cannot be taken back when a later one is refused.
    ...(config["send"] === "batch"
      ? { poisoned: ({ headers, body }) => ({ headers, body: withMark(body, POISON) }) }
      : {}),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function withMark(body: unknown, mark: string): unknown {
  return JSON.parse(JSON.stringify(body).replace(/"text":"[^"]*"/, `"text":"${mark}"`));
}
