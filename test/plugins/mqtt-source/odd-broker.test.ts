import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { AgentError } from "../../../core/sdk/index.js";
import { until } from "../../support/until.js";
import { notification, runningSource } from "./running-source.js";

const CONNECT = 1;
const SUBSCRIBE = 8;
const PING = 12;
const CONNACK = Buffer.from([0x20, 2, 0, 0]);
const PONG = [0xd0, 0];

/** What a broker sends after a subscription; `id` is that of the subscription, `connection` counts from 1. */
type Script = (id: Buffer, connection: number) => readonly Buffer[];

const suback = (id: Buffer, qos = 1) => Buffer.from([0x90, 3, ...id, qos]);

/** A message of QoS 1, small enough for two bytes of length. */
function publish(payload: string, id: number): Buffer {
  const topic = "orion/a";
  const body = Buffer.concat([Buffer.from([0, topic.length]), Buffer.from(topic), Buffer.from([0, id])]);
  const length = body.length + payload.length;
  return Buffer.concat([Buffer.from([0x32, (length % 128) | 128, length >> 7]), body, Buffer.from(payload)]);
}

interface Answers {
  readonly connack?: Uint8Array;
  readonly pong?: readonly number[];
  readonly onPing?: () => void;
}

/** A broker that lets everybody in, and answers a subscription by a script. */
async function scriptedBroker(context: TestContext, script: Script, answers: Answers = {}) {
  const { connack = CONNACK, pong = PONG, onPing = () => undefined } = answers;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (packet) => {
      const kind = (packet[0] ?? 0) >> 4;
      if (kind === CONNECT) socket.write(connack);
      if (kind === PING) {
        onPing();
        socket.write(Buffer.from(pong));
      }
      if (kind === SUBSCRIBE) for (const answer of script(packet.subarray(2, 4), connection)) socket.write(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the broker has no port");
  return { url: `mqtt://127.0.0.1:${address.port}`, sockets };
}

const noPackets = [
  { what: "a packet of an unknown kind", bytes: [0xf0, 0] },
  { what: "a length without an end", bytes: [0x32, 0xff, 0xff, 0xff, 0xff, 0xff] },
  { what: "a message that is shorter than its topic", bytes: [0x32, 3, 1, 0xf4, 0x61] },
  { what: "a message of a quality of service that there is not", bytes: [0x36, 5, 0, 1, 0x61, 0, 1] },
];

for (const { what, bytes } of noPackets)
  test(`behind ${what} the connection is made again, and the broker delivers what was lost with it`, async (context) => {
    const { url } = await scriptedBroker(context, (id, connection) =>
      connection === 1 ? [suback(id), Buffer.from(bytes)] : [suback(id), publish(notification(2), 1)],
    );

    const { received, health, logged } = await runningSource(context, { config: { url } });

    assert.deepEqual(await received(1), ["2"]);
    await logged("connected to the broker again");
    assert.deepEqual(health.map(({ state }) => state).slice(-2), ["degraded", "up"]);
  });

const refusals = [
  {
    what: "is no broker",
    connack: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
    remedy: /see whether url names the port of/,
  },
  {
    what: "says nothing",
    connack: Buffer.alloc(0),
    remedy: /connack timeout; see whether url .* mqtts:\/\/ if and only if it wants TLS/,
  },
  {
    what: "refuses the user",
    connack: Buffer.from([0x20, 2, 0, 5]),
    remedy: /Not authorized; check username and password/,
  },
];

for (const { what, connack, remedy } of refusals)
  test(`the warning about a server that ${what} says what to do`, async (context) => {
    const { url } = await scriptedBroker(context, () => [], { connack });

    const { logged } = await runningSource(context, { config: { url, connect_timeout: 100 } });

    const [line] = await logged("no connection to the broker");
    assert.match(JSON.stringify(line), remedy);
  });

test("a topic that the broker refuses is asked for again, by itself, until it is allowed", async (context) => {
  let asked = 0;
  const script: Script = (id) => {
    asked += 1;
    if (asked === 1) return [Buffer.from([0x90, 4, ...id, 1, 128])];
    return [suback(id, asked < 4 ? 128 : 1)];
  };
  const { url, sockets } = await scriptedBroker(context, script);

  const { logged, lines, health } = await runningSource(context, { config: { url, topics: ["own/#", "other/#"] } });
  const subscriptions = await logged("subscribed", 2);

  assert.deepEqual(
    subscriptions.map(({ fields }) => fields),
    [["own/#"], ["other/#"]].map((topics) => ({ url, topics, sessionPresent: false })),
  );
  assert.deepEqual([asked, sockets.length, health.at(-1)?.state], [4, 1, "up"]);
  assert.equal(lines.filter(({ message }) => message === "subscription refused").length, 1);
});

test("the warning about a broker without TLS that is asked for it says what to do", async (context) => {
  const { url, sockets } = await scriptedBroker(context, () => []);
  const { logged } = await runningSource(context, { config: { url: url.replace("mqtt:", "mqtts:") } });
  await until(
    async () => sockets.length,
    (count) => count > 0,
  );

  sockets[0]?.resetAndDestroy();

  const [line] = await logged("no connection to the broker");
  assert.match(JSON.stringify(line), /see whether url names .* if and only if it wants TLS/);
});

test("the warning about a broker that throws the source out names its client_id", async (context) => {
  const { url, sockets } = await scriptedBroker(context, (id) => [suback(id)]);
  const { logged } = await runningSource(context, { config: { url, client_id: "room-7" } });
  await logged("subscribed");

  sockets[0]?.end();

  const [line] = await logged("no connection to the broker");
  assert.match(
    JSON.stringify(line),
    /the broker closed the connection; .* another client has the client_id \\"room-7\\"/,
  );
});

for (const begun of [[], [0x20], [0x20, 2, 0], [0x20, 0x80]])
  test(`a server that sends ${begun.length} bytes of its answer is given up within connect_timeout, and tried again`, async (context) => {
    const { url, sockets } = await scriptedBroker(context, () => [], { connack: Uint8Array.from(begun) });

    const { health } = await runningSource(context, { config: { url, connect_timeout: 100 } });
    await until(
      async () => sockets.length,
      (count) => count >= 3,
    );

    assert.match(
      JSON.stringify(health),
      /^\[\{"state":"degraded","reason":"no connection to the broker: connack timeout;/,
    );
  });

test("a connection whose subscription is not answered is made again", async (context) => {
  const { url } = await scriptedBroker(context, (id, connection) => (connection === 1 ? [] : [suback(id)]));

  const { logged, health } = await runningSource(context, { config: { url, connect_timeout: 500 } });
  await logged("connected to the broker again");

  assert.match(
    JSON.stringify(health),
    /"degraded","reason":"no connection to the broker: the broker did not answer the subscription within 500 ms"\},\{"state":"up"\}/,
  );
});

test("a message that comes before the answer to the subscription, and that a channel holds up, is waited for", async (context) => {
  const { url, sockets } = await scriptedBroker(context, (id) => [publish(notification(1), 1), suback(id)]);
  let attempts = 0;
  const emit = async () => {
    attempts += 1;
    // With pauses of 5 ms this takes twice as long as connect_timeout.
    if (attempts < 200) throw new AgentError("CHANNEL_FULL", "there is no room", { retryable: true });
  };

  const { received, logged } = await runningSource(context, { config: { url, connect_timeout: 500 }, emit });

  assert.deepEqual(await received(1), ["1"]);
  await logged("subscribed");
  assert.equal(sockets.length, 1);
});

test("a message that a channel holds up for longer than keepalive keeps its connection", async (context) => {
  const { url, sockets } = await scriptedBroker(context, (id) => [suback(id), publish(notification(1), 1)]);
  let attempts = 0;
  const emit = async () => {
    attempts += 1;
    // With pauses of 5 ms this takes more than twice the time in which a ping must be answered.
    if (attempts < 700) throw new AgentError("CHANNEL_FULL", "there is no room", { retryable: true });
  };

  const { received, health } = await runningSource(context, { config: { url, keepalive: 1 }, emit });

  assert.deepEqual(await received(1), ["1"]);
  assert.equal(sockets.length, 1);
  assert.deepEqual(health, [{ state: "up" }]);
});

for (const { behind, config } of [
  { behind: "the answer to the subscription", config: { connect_timeout: 300 } },
  { behind: "the answer to a ping", config: { keepalive: 1 } },
])
  test(`a message behind which ${behind} comes may take long to arrive`, async (context) => {
    const script: Script = (id) => {
      const message = publish(notification(1), 1);
      const first = behind.endsWith("ping") ? [suback(id)] : [];
      const rest = Buffer.concat(first.length > 0 ? [message] : [message, suback(id)]);
      // One byte every 25 ms takes several times as long as the source would wait for an answer.
      const drip = (sent: number) => {
        sockets.at(-1)?.write(rest.subarray(sent, sent + 1));
        if (sent < rest.length) setTimeout(drip, 25, sent + 1);
      };
      setTimeout(drip, 25, 0);
      return first;
    };
    const { url, sockets } = await scriptedBroker(context, script, { pong: [] });

    const { received, logged } = await runningSource(context, { config: { url, ...config } });

    assert.deepEqual(await received(1), ["1"]);
    await logged("subscribed");
    assert.equal(sockets.length, 1);
  });

test("a broker that stands still after a message is noticed by the first ping that it does not answer", async (context) => {
  let pings = 0;
  const script: Script = (id) => [suback(id), publish(notification(1), 1)];
  const onPing = () => {
    pings += 1;
  };
  const { url } = await scriptedBroker(context, script, { pong: [], onPing });

  const { logged } = await runningSource(context, { config: { url, keepalive: 1 } });

  const [line] = await logged("no connection to the broker");
  assert.match(JSON.stringify(line), /Keepalive timeout/);
  assert.equal(pings, 1);
});

test("a broker that gives a lower quality of service than was asked for is warned about", async (context) => {
  const { url } = await scriptedBroker(context, (id) => [suback(id, 0)]);

  const { logged } = await runningSource(context, { config: { url, topics: ["orion/#"] } });

  const [warning] = await logged("the broker gives QoS 0 only: messages may be lost, and are when the agent is away");
  assert.deepEqual(warning?.fields, { topics: ["orion/#"] });
});
