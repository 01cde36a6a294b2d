import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { NodeConnections } from "../../../plugins/http-source/node-connections.js";
import { WaitingRequests } from "../../../plugins/http-source/waiting-requests.js";
import { until } from "../../support/until.js";
import { RawConnection } from "./raw-connection.js";

const request = "POST /notify HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";

/** A server whose connections may have ten requests together that wait, and that answers none by itself. */
async function tenMayWait(context: TestContext) {
  const waiting = new WaitingRequests(10);
  const begun: ServerResponse[] = [];
  let closed = 0;
  const tooMany = () => {
    closed += 1;
  };
  const connections = new NodeConnections({ idle: () => undefined, tooMany, waiting });
  const server = createServer((request, response) => {
    connections.add(request.socket, { request, response, begin: () => begun.push(response), over: () => undefined });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { port, waiting, begun, connections, closed: () => closed };
}

test("a sender whose requests are more than may wait for responses is disconnected, once, and leaves room to others", async (context) => {
  const { port, waiting, begun, connections, closed } = await tenMayWait(context);
  const first = await RawConnection.open(context, port);
  first.send(request.repeat(300));
  await first.untilClosed();
  await until(
    async () => connections.unanswered,
    (number) => number === 0,
  );

  assert.equal(begun.length, 1);
  assert.equal(closed(), 1);
  assert.equal(waiting.number, 0);
});

test("a sender that waits for its responses is served while no more requests of others may wait", async (context) => {
  const { port, waiting, begun, closed } = await tenMayWait(context);
  const other = await RawConnection.open(context, port);
  other.send(request.repeat(11));
  await until(
    async () => waiting.number,
    (number) => number === 10,
  );

  const polite = await RawConnection.open(context, port);
  for (let turn = 1; turn <= 3; turn += 1) {
    polite.send(request);
    await until(
      async () => begun.length,
      (number) => number === turn + 1,
    );
    begun.at(-1)?.writeHead(200, { "Content-Length": 0 }).end();
    await polite.received(turn);
  }
  assert.equal(waiting.number, 10);

  for (let at = 0; at < 11; at += 1) {
    begun[at === 0 ? 0 : at + 3]?.writeHead(200, { "Content-Length": 0 }).end();
    await other.received(at + 1);
    await until(
      async () => begun.length,
      (number) => number === Math.min(14, at + 5),
    );
  }
  assert.equal(waiting.number, 0);
  assert.equal(closed(), 0);
});
