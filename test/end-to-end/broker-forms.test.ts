import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { connectAsync } from "mqtt";
import { brokerOfTests } from "../support/mosquitto-server.js";
import type { TestDatabase } from "../support/postgresql.js";
import { reachable } from "../support/reachable.js";
import { storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";
import { type BrokerForm, brokerForms, withoutIds } from "./broker-forms.js";

async function assertStored({ query }: TestDatabase): Promise<void> {
  for (const { what, table, row } of brokerForms) {
    const [schema, name] = table.split(".");
    const rows = await query(`select * from "${schema}"."${name}"`);
    assert.equal(rows.length, 1, what);
    const stored = Object.entries(rows[0] ?? {}).filter(([column]) => column in row);
    assert.deepEqual(Object.fromEntries(stored), row, what);
  }
}

test("every form that was recorded from brokers is answered 200 and stored, but for values, which is refused", async (context) => {
  const storing = await storingAgent(context, "deneb.sources.http-source.handler.ngsi_version = auto");
  if (storing === undefined) return;
  const post = async ({ headers, body }: Pick<BrokerForm, "headers" | "body">) => {
    const response = await fetch(storing.agent.notifyUrl, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };

  const answers = [];
  for (const form of brokerForms) answers.push({ what: form.what, ...(await post(form)) });
  const refused = await post(withoutIds);
  await storing.settled();

  assert.deepEqual(
    answers,
    brokerForms.map(({ what }) => ({ what, status: 200, text: "" })),
  );
  assert.equal(refused.status, 400);
  assert.match(refused.text, /its format is values, which has no entity ids/);
  await assertStored(storing.database);
});

/** The forms in which metadata was seen or is allowed. */
const envelopes: readonly ((form: BrokerForm) => string)[] = [
  ({ headers, body }) => `{"metadata":${JSON.stringify(headers)},"body":${body}}`,
  ({ headers, body }) => {
    const list = Object.entries(headers).map(([name, value]) => ({ [name.toUpperCase()]: value }));
    return `{"metadata":${JSON.stringify(list)},"body":${body}}`;
  },
  ({ headers, body }) => {
    const list = Object.entries(headers).map(([key, value]) => ({ key, value }));
    return `{ "body" : ${body}, "metadata" : ${JSON.stringify(list)} }`;
  },
  ({ headers, body }) => {
    const metadata = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    return JSON.stringify({ metadata, body });
  },
];

test("every form that was recorded from brokers is stored when it comes by MQTT with metadata and body", async (context) => {
  const mqtt = await mqttSource(context);
  if (mqtt === undefined) return;
  const storing = await storingAgent(context, ...mqtt.lines);
  if (storing === undefined) return;
  const { agent, settled, ask, database } = storing;
  await until(
    async () => agent.lines.some(({ msg }) => msg === "subscribed"),
    (isSubscribed) => isSubscribed,
  );

  for (const [index, form] of brokerForms.entries()) {
    await mqtt.publish(envelopes[index % envelopes.length]?.(form) ?? "");
  }
  await mqtt.publish(withoutIds.body);
  const stats = async () => (await ask("GET", "/v1/stats")).stats;
  await until(stats, ({ sources }) => sources[1].num_refused_events === 1);
  await settled();

  await assertStored(database);
  const warned = agent.lines.filter(({ msg }) => msg === "requests refused");
  assert.deepEqual(
    warned.map(({ level, cause, count }) => ({ level, cause, count })),
    [{ level: "warn", cause: "not-a-notification", count: 1 }],
  );
});

async function mqttSource(context: TestContext) {
  const { host, port } = brokerOfTests();
  if (!(await reachable(host, port))) return context.skip("needs Mosquitto");
  const id = randomUUID();
  const topic = `deneb_test/${id}`;
  const publisher = await connectAsync(`mqtt://${host}:${port}`);
  context.after(async () => {
    await publisher.endAsync();
    await (await connectAsync(`mqtt://${host}:${port}`, { clientId: id, clean: true })).endAsync();
  });
  const source = "deneb.sources.mqtt-source";
  return {
    publish: (payload: string) => publisher.publishAsync(topic, payload, { qos: 1 }),
    lines: [
      "deneb.sources = http-source mqtt-source",
      `${source}.type = mqtt`,
      `${source}.channels = c`,
      `${source}.url = mqtt://${host}:${port}`,
      `${source}.topics = ${topic}`,
      `${source}.client_id = ${id}`,
      `${source}.handler = ngsi`,
      `${source}.handler.ngsi_version = auto`,
      `${source}.handler.default_service = svc`,
    ],
  };
}
