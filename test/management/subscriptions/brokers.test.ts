import assert from "node:assert/strict";
import { test } from "node:test";
import { brokerStandIn, brokerWith } from "../../support/broker.js";
import { selfSigned } from "../../support/certificates.js";
import { runningManagement } from "../../support/running-management.js";
import { ld, requests, v1, v2 } from "./payloads.js";

const tenant = { "Fiware-Service": "openiot", "Fiware-ServicePath": "/a" };
const forwarded = [
  {
    operation: "create",
    version: "1",
    expected: { method: "POST", url: "/v1/subscribeContext", body: JSON.stringify(v1) },
    type: "application/json",
  },
  {
    operation: "create",
    version: "2",
    expected: { method: "POST", url: "/v2/subscriptions", body: JSON.stringify(v2) },
    type: "application/json",
  },
  {
    operation: "create",
    version: "ld",
    expected: { method: "POST", url: "/ngsi-ld/v1/subscriptions", body: JSON.stringify(ld) },
    type: "application/ld+json",
  },
  {
    operation: "delete",
    version: "1",
    expected: { method: "POST", url: "/v1/unsubscribeContext", body: '{"subscriptionId":"x"}' },
    type: "application/json",
  },
  {
    operation: "delete",
    version: "2",
    expected: { method: "DELETE", url: "/v2/subscriptions/x", body: "" },
    type: undefined,
  },
  {
    operation: "one",
    version: "2",
    expected: { method: "GET", url: "/v2/subscriptions/x", body: "" },
    type: undefined,
  },
  {
    operation: "all",
    version: "ld",
    expected: { method: "GET", url: "/ngsi-ld/v1/subscriptions?limit=100&offset=0&count=true", body: "" },
    type: undefined,
  },
] as const;

for (const { operation, version, expected, type } of forwarded)
  test(`${operation} with version ${version} becomes ${expected.method} ${expected.url} with token and service`, async (context) => {
    const { calls, endpoint } = await brokerStandIn(context, () => ({ status: 500, body: {} }));
    const { call } = await runningManagement(context);
    const { method, path, body } = requests[operation](version, endpoint);

    await call(method, path, { body, headers: { ...tenant, "Fiware-Correlator": "c1" } });

    const [first] = calls;
    assert.ok(first);
    const { headers, connection: _connection, ...seen } = first;
    assert.deepEqual(seen, expected);
    assert.equal(headers["x-auth-token"], "secret-token");
    assert.equal(headers["fiware-service"], "openiot");
    assert.equal(headers["fiware-servicepath"], "/a");
    assert.equal(headers["fiware-correlator"], "c1");
    assert.equal(headers["content-type"], type);
    assert.equal(headers["ngsild-tenant"], version === "ld" ? "openiot" : undefined);
  });

test("headers that were not given, or are empty, are not sent to the broker", async (context) => {
  const { calls, endpoint } = await brokerStandIn(context, () => ({ status: 200, body: [] }));
  const { call } = await runningManagement(context);
  const { host, port, ssl } = endpoint;

  await call("GET", "/v1/subscriptions?ngsi_version=ld", {
    body: JSON.stringify({ host, port: Number(port), ssl: false }),
    headers: { "Fiware-Service": "" },
  });

  assert.equal(ssl, "false");
  const names = Object.keys(calls[0]?.headers ?? {}).sort();
  assert.deepEqual(names, ["accept", "connection", "fiware-correlator", "host"]);
});

test("a Link header goes to an NGSI-LD broker unless the payload has a context", async (context) => {
  const { calls, endpoint } = await brokerStandIn(context, brokerWith(["a"]));
  const { call } = await runningManagement(context);
  const headers = { Link: '<http://c>; rel="http://www.w3.org/ns/json-ld#context"', "NGSILD-Tenant": "t1" };
  const { "@context": _context, ...plain } = ld;

  for (const subscription of [plain, ld])
    await call("POST", "/v1/subscriptions?ngsi_version=ld", {
      headers,
      body: JSON.stringify({ subscription, endpoint }),
    });

  assert.deepEqual(
    calls.map(({ headers: seen }) => [seen.link, seen["content-type"], seen["ngsild-tenant"]]),
    [
      [headers.Link, "application/json", "t1"],
      [undefined, "application/ld+json", "t1"],
    ],
  );
});

for (const version of ["2", "ld"] as const)
  test(`all ${version} subscriptions of a broker are read, whatever its pages are`, async (context) => {
    const ids = Array.from({ length: 250 }, (_, index) => `s${index}`);
    const { calls, endpoint } = await brokerStandIn(context, brokerWith(ids));
    const { call } = await runningManagement(context);
    const { method, path, body } = requests.all(version, endpoint);

    const answer = await call(method, path, { body });

    const found: readonly { readonly id: string }[] = answer.body.result.result;
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
    );
    assert.equal(calls.length, 3);
  });

test("a list that a broker does not end is an error, and no answer with a part of it", async (context) => {
  const { calls, endpoint } = await brokerStandIn(context, () => ({
    status: 200,
    headers: { "Fiware-Total-Count": "999999" },
    body: [{ id: `s${calls.length}` }],
  }));
  const { call } = await runningManagement(context);
  const { method, path, body } = requests.all("2", endpoint);

  const answer = await call(method, path, { body });

  assert.equal(answer.status, 502);
  assert.match(answer.body.error, /more than 1000 pages/);
  assert.equal(calls.length, 1000);
});

for (const size of [99, 100, 101])
  test(`a broker that knows neither pages nor counts and has ${size} subscriptions is called a limited number of times`, async (context) => {
    const body = Array.from({ length: size }, (_, index) => ({ id: `s${index}` }));
    const { calls, endpoint } = await brokerStandIn(context, () => ({ status: 200, body }));
    const { call } = await runningManagement(context);
    const { method, path, ...sent } = requests.all("2", endpoint);

    const answer = await call(method, path, sent);

    assert.equal(answer.body.result.result.length, size);
    assert.equal(calls.length, size === 100 ? 2 : 1);
  });

test("an id cannot lead out of the path of subscriptions", async (context) => {
  const { calls, endpoint } = await brokerStandIn(context, brokerWith([]));
  const { call } = await runningManagement(context);

  for (const id of ["../../admin?x=1#y", "..", "a b", "é"]) {
    const path = `/v1/subscriptions?ngsi_version=2&subscription_id=${encodeURIComponent(id)}`;
    await call("GET", path, { body: JSON.stringify(endpoint) });
  }

  assert.deepEqual(
    calls.map(({ url }) => url),
    ["..%2F..%2Fadmin%3Fx%3D1%23y", "%2E%2E", "a%20b", "%C3%A9"].map((id) => `/v2/subscriptions/${id}`),
  );
});

test("a broker that is away is answered 502, one that does not answer 504", async (context) => {
  const silent = await brokerStandIn(context, () => undefined);
  const { call } = await runningManagement(context, { brokerTimeoutMillis: 50 });
  const path = "/v1/subscriptions?ngsi_version=2";

  const away = await call("GET", path, { body: JSON.stringify({ ...silent.endpoint, port: "1" }) });
  const late = await call("GET", path, { body: JSON.stringify(silent.endpoint) });

  assert.deepEqual([away.status, away.body.success, late.status, late.body.success], [502, "false", 504, "false"]);
  assert.match(away.body.error, /127\.0\.0\.1:1/);
  assert.match(late.body.error, /which did not answer within 50 milliseconds$/);
  assert.ok(!late.text.includes("secret-token"));
});

test("the certificate of a broker is verified unless that is switched off", async (context) => {
  const { endpoint } = await brokerStandIn(context, brokerWith(["a"]), selfSigned("broker"));
  const strict = await runningManagement(context);
  const lax = await runningManagement(context, { verifyTls: false });
  const { method, path, body } = requests.all("2", endpoint);

  const refused = await strict.call(method, path, { body });
  const accepted = await lax.call(method, path, { body });

  assert.equal(refused.status, 502);
  assert.match(
    refused.body.error,
    /": the certificate of the broker is not signed by a trusted authority \(DEPTH_ZERO_SELF_SIGNED_CERT\); give that authority in the file that NODE_EXTRA_CA_CERTS names.*self-signed certificate/,
  );
  assert.deepEqual(accepted.body.result.result, [{ id: "a", status: "active" }]);
});

const targetCases = [
  { targets: ["*"], host: "127.0.0.1", allowed: true },
  { targets: ["127.0.0.1"], host: "127.0.0.1", allowed: true },
  { targets: ["LOCALHOST"], host: "localhost", allowed: true },
  { targets: [], host: "127.0.0.1", allowed: false },
  { targets: ["127.0.0.1:1"], host: "127.0.0.1", allowed: false },
  { targets: ["*.0.0.1"], host: "127.0.0.1", allowed: false },
  { targets: ["*.example.org"], host: "example.org", allowed: false },
] as const;

for (const { targets, host, allowed } of targetCases)
  test(`with the broker targets [${targets}] a call of ${host} is ${allowed ? "made" : "refused"}`, async (context) => {
    const { calls, endpoint } = await brokerStandIn(context, brokerWith(["a"]));
    const { call } = await runningManagement(context, { targets });
    const { method, path, body } = requests.all("2", { ...endpoint, host });

    const answer = await call(method, path, { body });

    assert.equal(answer.status, allowed ? 200 : 403);
    assert.equal(calls.length, allowed ? 1 : 0);
  });
