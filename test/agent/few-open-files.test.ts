import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const properties = httpAgent({ channel: "file", sink: "rdb", lines: ["a.sinks.k.rdb_dialect = sqlite"] });

test("senders that keep more connections than the process may open files do not keep it from its work", {
  skip: process.platform === "linux" ? false : "the limit is read from /proc",
}, async (context) => {
  const folder = await tempFolder(context);
  const { notifyUrl, managementUrl, lines } = await startAgent(context, { folder, properties, openFiles: 256 });
  const { hostname, port } = new URL(notifyUrl);
  const body = JSON.stringify({
    id: "urn:n",
    type: "Notification",
    subscriptionId: "urn:s:1",
    data: [{ id: "urn:room:1", type: "Room", number: { type: "Property", value: 1 } }],
  });
  const kept = await fetch(notifyUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  await kept.text();

  const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname));
  context.after(() => sockets.forEach((socket) => socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket, "connect").catch(() => undefined)));
  const response = await fetch(notifyUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const stats = await until(
    async () => (await fetch(`${managementUrl}/v1/stats`)).text(),
    (text) => text.includes('"num_persisted_events":2'),
  );

  // On the connection that was there before.
  assert.equal(response.status, 200);
  assert.match(stats, /"num_persisted_events":2/);
  const told = await until(
    async () => lines.filter(({ level }) => level === "warn").map(({ msg, cause }) => cause ?? msg),
    (warnings) => warnings.includes("too-many-connections"),
  );
  assert.deepEqual(told, [
    "fewer connections than max_connections may be open: this process may open too few files",
    "too-many-connections",
  ]);
});
