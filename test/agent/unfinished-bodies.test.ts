import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const MIB = 1_048_576;
const CONNECTIONS = 200;
const BODY_BYTES = 9_900_000;
/** The default of max_bytes_in_flight is 128 MiB; the rest is the process, and what is read of sockets and not yet thrown away. */
const MOST_RESIDENT = 400 * MIB;

const properties = `
deneb.sources = http-source
deneb.channels = c
deneb.sinks = k
deneb.sources.http-source.type = http
deneb.sources.http-source.channels = c
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.handler = ngsi
deneb.channels.c.type = memory
deneb.sinks.k.type = logger
deneb.sinks.k.channel = c`;

const notification = JSON.stringify({
  id: "urn:n:1",
  type: "Notification",
  data: [{ id: "urn:room:1", type: "Room", n: { type: "Property", value: 1 } }],
});

const framings = [
  { framing: "of known length", head: `Content-Length: ${BODY_BYTES}\r\n\r\n` },
  { framing: "in one chunk", head: `Transfer-Encoding: chunked\r\n\r\n${BODY_BYTES.toString(16)}\r\n` },
] as const;

for (const { framing, head } of framings)
  test(`200 bodies of 9.9 MB ${framing} that lack their last byte cost at most 400 MiB, and others are served`, async (context) => {
    const agent = await startAgent(context, { properties, folder: await tempFolder(context) });
    const { port } = new URL(agent.notifyUrl);
    const body = Buffer.alloc(BODY_BYTES - 1, " ");
    const start = `POST /notify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${head}`;
    const unfinished = Array.from({ length: CONNECTIONS }, () => begun(Number(port), [start, body]));
    context.after(() => {
      for (const { socket } of unfinished) socket.destroy();
    });
    const resident: number[] = [];
    const statuses: number[] = [];

    await until(
      async () => {
        const sending = { method: "POST", headers: { "Content-Type": "application/json" }, body: notification };
        statuses.push((await fetch(agent.notifyUrl, sending)).status);
        resident.push(await residentBytes(agent.managementUrl));
        return unfinished.filter(({ state }) => state() === "sending").length;
      },
      (sending) => sending === 0,
    );

    const stats = JSON.parse(await (await fetch(`${agent.managementUrl}/v1/stats`)).text());
    const refused = unfinished.filter(({ state }) => state() === "refused").length;
    assert.ok(Math.max(...resident) < MOST_RESIDENT, `at most ${Math.max(...resident) / MIB} MiB were resident`);
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.ok(refused > CONNECTIONS / 2, `${refused} senders were refused`);
    assert.ok(stats.stats.sources[0].num_refused_events >= refused, "each of them was counted");
  });

/** A sender of which the state is known: it still sends, has sent everything, or got an answer. */
function begun(port: number, [head, body]: readonly [string, Buffer]) {
  const socket: Socket = connect(port, "127.0.0.1");
  let answer = "";
  let sent = false;
  socket.on("error", () => undefined);
  socket.on("data", (piece) => {
    answer += piece.toString();
  });
  socket.write(head);
  socket.write(body, () => {
    sent = true;
  });
  const state = () => {
    if (answer.startsWith("HTTP/1.1 503")) return "refused";
    return sent ? "sent" : "sending";
  };
  return { socket, state };
}

async function residentBytes(managementUrl: string): Promise<number> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}
