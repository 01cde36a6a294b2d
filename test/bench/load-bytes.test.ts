import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { autocannonLoad } from "./autocannon.js";
import type { LoadGenerator } from "./load.js";
import { wrkIsThere, wrkLoad } from "./wrk.js";

/** Names in a case of their own, twice the same one, and a body with characters of several bytes and line ends. */
const lines = [
  {
    method: "POST",
    path: "/notify",
    headers: [
      ["user-agent", "x"],
      ["X-Two", "1"],
      ["X-Two", "2"],
    ],
    body: '{\n "é" : 1\n}',
  },
  { method: "PUT", path: "/other?a=b", headers: [["LINK", '<a>; rel="b"']], body: "" },
] as const;

const generators: Readonly<Record<string, LoadGenerator>> = { autocannon: autocannonLoad, wrk: wrkLoad };

for (const [name, generate] of Object.entries(generators))
  test(`${name} sends recorded requests byte for byte, with the address and the length before the body`, async (context) => {
    if (name === "wrk" && !(await wrkIsThere())) return context.skip("needs wrk");
    const { port, requests } = await recorder(context);
    const recorded = path.join(await tempFolder(context), "requests.ndjson");
    await writeFile(recorded, lines.map((line) => JSON.stringify({ ...line, events: 1 })).join("\n"));

    const url = `http://127.0.0.1:${port}/notify`;
    const { accepted } = await generate({ url, service: "svc", bodies: { recorded }, seconds: 1, connections: 2 });

    assert.equal(accepted > 0, true);
    assert.deepEqual([...requests].toSorted(), [
      `POST /notify HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nuser-agent: x\r\nX-Two: 1\r\nX-Two: 2\r\nContent-Length: 13\r\n\r\n{\n "é" : 1\n}`,
      `PUT /other?a=b HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nLINK: <a>; rel="b"\r\nContent-Length: 0\r\n\r\n`,
    ]);
  });

/** Keeps the distinct requests; each arrives as one piece, because its sender waits for the answer. */
async function recorder(context: TestContext) {
  const requests = new Set<string>();
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      requests.add(chunk.toString());
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the recorder has no port");
  return { port: address.port, requests };
}
