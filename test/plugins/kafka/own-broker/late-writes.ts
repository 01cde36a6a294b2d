import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { Event } from "../../../../core/sdk/index.js";
import { retryableOf } from "../../../../core/sdk/index.js";
import { runningSink } from "../running-sink.js";
import { topicClient } from "../topic-client.js";
import { kafka, skip, way } from "./broker.js";

test("what a sink has abandoned and written again stands not behind what followed, when the network delivers it late", {
  skip,
}, async (context) => {
  const client = await topicClient({ bootstrap_servers: [kafka.address] });
  context.after(() => client.close());
  const topic = randomUUID();
  await client.make(topic);
  const network = await slowNetwork(context);
  const sink = await runningSink(context, {
    bootstrap_servers: [`127.0.0.1:${way.advertised}`],
    topic,
    request_timeout: 9000,
  });
  await sink.persist({ events: [room("first")] });

  network.hold();
  const failure = await sink.persist({ events: [room("second")] }).catch((error: unknown) => error);
  network.goOn();
  await sink.persist({ events: [room("second")] });
  await sink.persist({ events: [room("third")] });
  await network.deliver();

  assert.equal(retryableOf(failure), true);
  const ids = (await client.read(topic)).map(({ value }) => JSON.parse(value).id);
  assert.deepEqual(ids, ["first", "second", "third"]);
});

const room = (id: string): Event => ({
  headers: { "fiware-service": "openiot", "fiware-servicepath": "/" },
  body: { id, type: "Room", attributes: [] },
});

/** On the way to the broker of the tests. */
async function slowNetwork(context: TestContext) {
  let isHeld = false;
  const held = new Map<Socket, Buffer[]>();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(way.port, "127.0.0.1");
    for (const socket of [near, far]) sockets.add(socket.on("error", () => undefined));
    far.on("data", (bytes) => near.write(bytes));
    far.on("close", () => near.destroy());
    near.on("data", (bytes) => {
      if (isHeld) held.set(far, [...(held.get(far) ?? []), bytes]);
      else far.write(bytes);
    });
    near.on("close", () => {
      if (!held.has(far)) far.end();
    });
  });
  server.listen(way.advertised, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    /** Nothing that is sent arrives. */
    hold: () => {
      isHeld = true;
    },
    /** What is sent from now on arrives. */
    goOn: () => {
      isHeld = false;
    },
    /** What was held arrives; resolves when the broker has answered all of it. */
    deliver: async () => {
      assert.ok(held.size > 0);
      const ends = [...held].map(async ([far, bytes]) => {
        far.end(Buffer.concat(bytes));
        await once(far, "close");
      });
      await Promise.all(ends);
    },
  };
}
