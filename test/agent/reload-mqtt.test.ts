import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { connectAsync } from "mqtt";
import { brokerOfTests } from "../support/mosquitto-server.js";
import { reachable } from "../support/reachable.js";
import { storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";

const RELOADS = 5;

/** One entity of NGSI v2, as Orion sends it. */
function notification(n: number): string {
  const data = [{ id: `urn:room:${n}`, type: "Room", value: { type: "Number", value: n, metadata: {} } }];
  return JSON.stringify({ subscriptionId: "urn:s:1", data });
}

test("messages of QoS 1 that come during reloads are stored, each of them once", async (context) => {
  const { host, port } = brokerOfTests();
  if (!(await reachable(host, port))) return context.skip("needs Mosquitto");
  const id = randomUUID();
  const topic = `deneb_test/${id}`;
  const source = "deneb.sources.mqtt-source";
  const storing = await storingAgent(
    context,
    "deneb.sources = http-source mqtt-source",
    `${source}.type = mqtt`,
    `${source}.channels = c`,
    `${source}.url = mqtt://${host}:${port}`,
    `${source}.topics = ${topic}`,
    `${source}.client_id = ${id}`,
    `${source}.handler = ngsi`,
    `${source}.handler.ngsi_version = v2`,
    `${source}.handler.default_service = svc`,
  );
  if (storing === undefined) return;
  const { agent, ask, properties, propertiesFile, database } = storing;
  const publisher = await connectAsync(`mqtt://${host}:${port}`);
  context.after(async () => {
    await publisher.endAsync();
    await (await connectAsync(`mqtt://${host}:${port}`, { clientId: id, clean: true })).endAsync();
  });
  const seen = (msg: string) => agent.lines.filter((line) => line["msg"] === msg).length;
  const toldTimes = (msg: string, times: number) =>
    until(
      async () => seen(msg),
      (count) => count >= times,
    );
  await toldTimes("subscribed", 1);
  let published = 0;
  let loading = true;
  context.after(() => {
    loading = false;
  });
  const received = async () => (await ask("GET", "/v1/stats")).stats.ledger.channels[0].received;
  const publish = async () => {
    while (loading) {
      await publisher.publishAsync(topic, notification(published++), { qos: 1 });
      // A broker keeps only so many messages for a client.
      if (published % 100 === 0) await until(received, (count) => count >= published - 100);
    }
  };
  const load = publish();

  for (let n = 1; n <= RELOADS; n++) {
    await writeFile(propertiesFile, properties(`${source}.handler.events_ttl = ${n + 2}`));
    agent.process.kill("SIGHUP");
    await toldTimes("configuration reloaded", n);
  }
  loading = false;
  await load;

  const rows = await until(
    async () => await database.query("SELECT count(DISTINCT entityid) AS rooms, count(*) AS every FROM svc.room"),
    ([row]) => Number(row?.["rooms"]) === published,
  );
  assert.equal(Number(rows[0]?.["every"]), published);
});
