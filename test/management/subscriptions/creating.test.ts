import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { type TestContext, test } from "node:test";
import { brokerStandIn } from "../../support/broker.js";
import { latch } from "../../support/latch.js";
import { runningManagement } from "../../support/running-management.js";
import { type Answering, storingBroker } from "../../support/storing-broker.js";
import { until } from "../../support/until.js";
import { ld, requests, v2 } from "./payloads.js";

const created: Answering = (reply) => reply;
const silent: Answering = () => undefined;
const cut: Answering = () => "cut";

const minimal = [
  { subject: { entities: [{ id: "Room1" }] }, notification: { http: { url: "http://a/notify" } } },
  {
    subject: { entities: [{ idPattern: ".*", typePattern: "R.*" }] },
    notification: { mqtt: { url: "mqtt://a", topic: "t" } },
  },
  { ...v2, notification: { httpCustom: { url: "http://a", headers: { a: "b" } }, exceptAttrs: ["x"], covered: true } },
  { ...v2, subject: { entities: [{ id: "a" }], condition: { alterationTypes: ["entityDelete"] } } },
  { ...v2, subject: { entities: [{ id: "a" }], condition: { expression: { georel: "near" } } }, expires: undefined },
  {
    ...v2,
    description: undefined,
    throttling: undefined,
    notification: { mqttCustom: { url: "mqtt://a", topic: "t" } },
  },
];

for (const subscription of minimal)
  test(`the v2 subscription ${JSON.stringify(subscription)} is created`, async (context) => {
    const { call, endpoint } = await managementAt(context, created);

    const answer = await call("POST", "/v1/subscriptions?ngsi_version=2", {
      body: JSON.stringify({ subscription, endpoint }),
    });

    assert.deepEqual(answer.body, { success: "true", result: { SubscriptionID: "s1" } });
  });

const texts = [
  '{"throttling" : 12345678901234567890.10, "9": 1, "8": 2, "subject":{"entities":[{"id":"a\\u00e9é😀"}]},\n "notification":{"http":{"url":"http://a"}},"x":1e400,"x":null}',
  '{"subject":{"entities":[{"id":"a"}]},"notification":{"http":{"url":"http://a?b=}\\\\\\"{["}},"endpoint":{}}',
];

for (const text of texts)
  test(`the broker gets byte for byte ${text.slice(0, 40)}`, async (context) => {
    const { call, calls, endpoint } = await managementAt(context, created);
    const at = JSON.stringify(endpoint);

    for (const body of [
      `{"subscription":{"a":1},"endpoint":${at},"subscr\\u0069ption":  ${text}\n}`,
      ` { "x" : [{"subscription":1}, "subscription"], "subscription":${text},"endpoint":${at},"y":"{" } `,
    ])
      await call("POST", "/v1/subscriptions?ngsi_version=2", { body });

    assert.deepEqual(
      calls.map(({ body }) => body),
      [text, text],
    );
  });

for (const version of ["2", "ld"] as const) {
  test(`all ${version} calls go below the path prefix of the endpoint`, async (context) => {
    const { call, calls, endpoint } = await managementAt(context, created, "/proxy/orion");

    for (const path of ["/proxy/orion", "proxy/orion/"])
      for (const operation of ["create", "one", "all", "delete"] as const) {
        const { method, path: target, body } = requests[operation](version, { ...endpoint, path });
        await call(method, target, { body });
      }

    assert.equal(calls.length, 8);
    for (const { url } of calls) assert.match(url, /^\/proxy\/orion\/(?:v2|ngsi-ld\/v1)\/subscriptions(?:[/?].*)?$/);
  });

  for (const answering of [silent, cut])
    test(`a ${version} broker that stores and then ${answering === cut ? "hangs up" : "hangs"} is asked, and the answer names what it has`, async (context) => {
      const { call, endpoint } = await managementAt(context, answering);
      const { method, path, body } = requests.create(version, endpoint);

      const answer = await call(method, path, { body });

      assert.equal(answer.status, answering === cut ? 502 : 504);
      assert.equal(answer.body.success, "false");
      assert.match(answer.body.error, /; the subscription may exist: the broker has 1 like it, "s1"/);
      assert.deepEqual(answer.body.result, { found: [{ id: "s1", status: "active" }] });
    });
}

test("a subscription of another service, receiver or entity is not taken for the created one", async (context) => {
  const broker = storingBroker(created);
  const { endpoint } = await brokerStandIn(context, (seen) =>
    seen.headers["fiware-correlator"] === "lost" && seen.method === "POST" ? undefined : broker.replying(seen),
  );
  const { call } = await runningManagement(context, { brokerCreateTimeoutMillis: 500 });
  const others = [
    { subscription: v2, headers: { "Fiware-Service": "other" } },
    { subscription: { ...v2, description: "Another" }, headers: {} },
    { subscription: { ...v2, notification: { http: { url: "http://other" } } }, headers: {} },
    { subscription: { ...v2, subject: { entities: [{ idPattern: ".*", type: "Door" }] } }, headers: {} },
  ];
  for (const { subscription, headers } of others)
    await call("POST", "/v1/subscriptions?ngsi_version=2", {
      headers,
      body: JSON.stringify({ subscription, endpoint }),
    });

  const answer = await call("POST", "/v1/subscriptions?ngsi_version=2", {
    headers: { "Fiware-Correlator": "lost" },
    body: JSON.stringify({ subscription: v2, endpoint }),
  });

  assert.equal(answer.status, 504);
  assert.match(answer.body.error, /may exist: none like it was found, but the broker may still create it; check/);
  assert.deepEqual(answer.body.result, { found: [] });
});

test("an NGSI-LD broker is asked with the context of the subscription", async (context) => {
  const { call, calls, endpoint } = await managementAt(context, cut);
  const { method, path, body } = requests.create("ld", endpoint);

  await call(method, path, { body, headers: { Link: "<http://other>" } });

  assert.deepEqual(
    calls.map(({ method: seen, headers }) => [seen, headers.link]),
    [
      ["POST", undefined],
      ["GET", `<${ld["@context"]}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`],
    ],
  );
});

test("an id that the caller chose is what is looked for", async (context) => {
  const { call, endpoint } = await managementAt(context, silent);
  const subscription = { ...ld, id: "s1", description: "shown differently" };

  const answer = await call("POST", "/v1/subscriptions?ngsi_version=ld", {
    body: JSON.stringify({ subscription, endpoint }),
  });

  assert.deepEqual(answer.body.result, { found: [{ id: "s1", status: "active" }] });
});

const unclear = [
  { reply: { status: 201 }, error: /answered with status 201 and without an id; .*1 like it/ },
  {
    reply: { status: 201, headers: { Location: "/v2/subscriptions/" } },
    error: /answered with status 201 and without an id; .*1 like it/,
  },
  { reply: { status: 504, body: "<html>gateway time-out</html>" }, error: /answered with status 504 .*1 like it/ },
  { reply: { status: 502, body: { a: 1 } }, error: /answered with status 502 .*1 like it/, answer: { a: 1 } },
];

for (const { reply, error, answer: relayed } of unclear)
  test(`an answer ${JSON.stringify(reply)} leaves it open, and the subscription is looked for`, async (context) => {
    const { call, endpoint } = await managementAt(context, () => reply);
    const { method, path, body } = requests.create("2", endpoint);

    const answer = await call(method, path, { body });

    assert.equal(answer.status, 502);
    assert.match(answer.body.error, error);
    assert.deepEqual(answer.body.result, {
      found: [{ id: "s1", status: "active" }],
      ...(relayed === undefined ? {} : { answer: relayed }),
    });
  });

test("an answer that arrives while the subscription is looked for is the outcome", async (context) => {
  const { opened, open } = latch();
  const answering: Answering = async (reply) => {
    await opened;
    return reply;
  };
  const broker = storingBroker(answering);
  const { endpoint } = await brokerStandIn(context, (seen) => {
    if (seen.method === "POST") return broker.replying(seen);
    open();
    return undefined;
  });
  const { call } = await runningManagement(context, { brokerCreateTimeoutMillis: 500 });
  const { method, path, body } = requests.create("2", endpoint);

  const answer = await call(method, path, { body });

  assert.deepEqual(answer.body, { success: "true", result: { SubscriptionID: "s1" } });
});

test("creating waits for a broker for which reading has timed out", async (context) => {
  const { opened, open } = latch();
  const broker = storingBroker(async (reply) => {
    await opened;
    return reply;
  });
  const { endpoint } = await brokerStandIn(context, (seen) =>
    seen.method === "POST" ? broker.replying(seen) : undefined,
  );
  const { call } = await runningManagement(context, { brokerTimeoutMillis: 50, brokerCreateTimeoutMillis: 30_000 });
  const create = requests.create("ld", endpoint);
  const all = requests.all("ld", endpoint);

  const creating = call(create.method, create.path, { body: create.body });
  const reading = await call(all.method, all.path, { body: all.body });
  open();

  assert.equal(reading.status, 504);
  assert.deepEqual((await creating).body, { success: "true", result: { SubscriptionID: "s1" } });
});

test("a caller that leaves does not end the call of the broker", async (context) => {
  const arrived = latch();
  const left = latch();
  const broker = storingBroker(async (reply) => {
    arrived.open();
    await left.opened;
    return reply;
  });
  const { endpoint, calls } = await brokerStandIn(context, broker.replying);
  const { call, lines, port } = await runningManagement(context);
  const { method, path, body } = requests.create("2", endpoint);
  const caller = httpRequest({ host: "127.0.0.1", port, method, path, agent: false });
  caller.on("error", () => {});
  caller.end(body);
  await arrived.opened;

  caller.destroy();
  await until(
    async () => lines.filter(({ fields }) => Reflect.get(fields, "status") === "abandoned"),
    (abandoned) => abandoned.length === 1,
  );
  const all = requests.all("2", endpoint);
  await call(all.method, all.path, { body: all.body });

  assert.equal(calls[0]?.connection.destroyed, false);
  left.open();
});

test("a broker that cannot be reached is not searched, and one without a list is not either", async (context) => {
  const { call, endpoint, calls } = await managementAt(context, silent);
  const away = requests.create("2", { ...endpoint, port: "1" });
  const old = requests.create("1", (await brokerStandIn(context, () => undefined)).endpoint);

  const unreachable = await call(away.method, away.path, { body: away.body });
  const unlisted = await call(old.method, old.path, { body: old.body });

  assert.equal(unreachable.status, 502);
  assert.doesNotMatch(unreachable.body.error, /may exist/);
  assert.equal(unlisted.status, 504);
  assert.match(unlisted.body.error, /may exist: this API cannot list subscriptions; check the broker/);
  assert.equal(calls.length, 0);
});

test("a search that fails is reported with its reason", async (context) => {
  const { endpoint } = await brokerStandIn(context, ({ method }) => (method === "POST" ? undefined : { status: 500 }));
  const { call } = await runningManagement(context, { brokerCreateTimeoutMillis: 500 });
  const { method, path, body } = requests.create("2", endpoint);

  const answer = await call(method, path, { body });

  assert.equal(answer.status, 504);
  assert.match(answer.body.error, /may exist: looking for it was answered with status 500; check the broker/);
});

for (const spelling of ["xauthtoken", "authToken"])
  test(`the token ${spelling} of an endpoint is sent as X-Auth-Token`, async (context) => {
    const { call, calls, endpoint } = await managementAt(context, created);
    const { xauthtoken: _token, ...bare } = endpoint;

    for (const operation of ["create", "all", "delete"] as const) {
      const { method, path, body } = requests[operation]("2", { ...bare, [spelling]: "t1" });
      await call(method, path, { body });
    }

    assert.deepEqual(
      calls.map(({ headers }) => headers["x-auth-token"]),
      ["t1", "t1", "t1"],
    );
  });

for (const status of [401, 403])
  test(`deleting needs a token only at a broker that answers ${status} without one`, async (context) => {
    const reply = (token: unknown) => (token === undefined ? { status, body: { error: "token" } } : { status: 204 });
    const guarded = await brokerStandIn(context, ({ headers }) => reply(headers["x-auth-token"]));
    const open = await brokerStandIn(context, () => ({ status: 204 }));
    const { call } = await runningManagement(context);
    const path = "/v1/subscriptions?subscription_id=x&ngsi_version=2";
    const without = (endpoint: object) => JSON.stringify({ ...endpoint, xauthtoken: undefined });

    const refused = await call("DELETE", path, { body: without(guarded.endpoint) });
    const given = await call("DELETE", path, { body: JSON.stringify(guarded.endpoint) });
    const needless = await call("DELETE", path, { body: without(open.endpoint) });

    const error = "Missing Auth-Token. Required for DELETE subscriptions";
    assert.deepEqual(refused.body, { success: "false", error, result: { error: "token" } });
    assert.deepEqual([refused.status, given.status, needless.status], [400, 200, 200]);
  });

async function managementAt(context: TestContext, answering: Answering, prefix = "") {
  const broker = storingBroker(answering, prefix);
  const { calls, endpoint } = await brokerStandIn(context, broker.replying);
  const patient = answering === silent ? { brokerCreateTimeoutMillis: 500 } : {};
  const { call } = await runningManagement(context, patient);
  return { call, calls, endpoint };
}
