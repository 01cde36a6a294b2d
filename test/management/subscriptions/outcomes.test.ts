import assert from "node:assert/strict";
import { test } from "node:test";
import { type BrokerReply, brokerStandIn } from "../../support/broker.js";
import { runningManagement } from "../../support/running-management.js";
import { requests } from "./payloads.js";

const failed = (result: unknown) => ({ success: "false", result });
const succeeded = (result: unknown) => ({ success: "true", result });
const withoutJson = (status: number) =>
  failed({ description: `The broker answered with status ${status} and without JSON`, error: "BadGateway" });
const withoutReason = (status: number, error: string) =>
  failed({ description: `The broker answered with status ${status} and gave no reason`, error });
const notFound = { error: "NotFound", description: "The requested subscription has not been found. Check id" };
const subscribeResponse = { subscribeResponse: { duration: "P1M", throttling: "PT5S", subscriptionId: "51c0" } };
const subscribeError = {
  subscribeError: { errorCode: { code: "400", reasonPhrase: "Bad Request", details: "unknown field /extra/" } },
};
const unsubscribed = (code: string) => ({
  subscriptionId: "x",
  statusCode: { code, reasonPhrase: "OK", details: "subscriptionId: /x/" },
});

interface Row {
  readonly operation: "create" | "one" | "all" | "delete";
  readonly version: "1" | "2" | "ld";
  readonly reply: BrokerReply;
  readonly status: number;
  readonly body: unknown;
}

const rows: readonly Row[] = [
  {
    operation: "create",
    version: "1",
    reply: { status: 200, body: subscribeResponse },
    status: 200,
    body: succeeded(subscribeResponse),
  },
  {
    operation: "create",
    version: "1",
    reply: { status: 200, body: subscribeError },
    status: 200,
    body: succeeded(subscribeError),
  },
  {
    operation: "create",
    version: "1",
    reply: { status: 200, body: { orionError: { code: "400" } } },
    status: 400,
    body: failed({ orionError: { code: "400" } }),
  },
  {
    operation: "create",
    version: "1",
    reply: { status: 400, body: { error: "a" } },
    status: 400,
    body: failed({ error: "a" }),
  },
  {
    operation: "create",
    version: "1",
    reply: { status: 200, body: {} },
    status: 502,
    body: withoutReason(200, "BadGateway"),
  },
  {
    operation: "create",
    version: "2",
    reply: { status: 403, body: {} },
    status: 400,
    body: withoutReason(403, "BadRequest"),
  },
  { operation: "delete", version: "1", reply: { status: 404, body: "" }, status: 502, body: withoutJson(404) },
  { operation: "delete", version: "2", reply: { status: 404, body: {} }, status: 404, body: failed(notFound) },
  {
    operation: "create",
    version: "2",
    reply: { status: 201, headers: { Location: "/v2/subscriptions/abc" } },
    status: 200,
    body: succeeded({ SubscriptionID: "abc" }),
  },
  {
    operation: "create",
    version: "2",
    reply: { status: 201, headers: { Location: "https://b:1/v2/subscriptions/abc/?x=1" } },
    status: 200,
    body: succeeded({ SubscriptionID: "abc" }),
  },
  {
    operation: "create",
    version: "2",
    reply: { status: 422, body: { error: "Unprocessable" } },
    status: 400,
    body: failed({ error: "Unprocessable" }),
  },
  {
    operation: "create",
    version: "2",
    reply: { status: 401, body: { error: "no" } },
    status: 400,
    body: failed({ error: "no" }),
  },
  {
    operation: "create",
    version: "2",
    reply: { status: 500, body: { error: "InternalError" } },
    status: 502,
    body: failed({ error: "InternalError" }),
  },
  {
    operation: "create",
    version: "2",
    reply: { status: 302, headers: { Location: "http://169.254.169.254/" } },
    status: 502,
    body: withoutJson(302),
  },
  {
    operation: "create",
    version: "ld",
    reply: { status: 201, headers: { Location: "/ngsi-ld/v1/subscriptions/urn%3Angsi-ld%3AS%3A1" } },
    status: 200,
    body: succeeded({ SubscriptionID: "urn:ngsi-ld:S:1" }),
  },
  {
    operation: "create",
    version: "ld",
    reply: { status: 409, body: { title: "Already exists" } },
    status: 400,
    body: failed({ title: "Already exists" }),
  },
  {
    operation: "delete",
    version: "1",
    reply: { status: 200, body: unsubscribed("200") },
    status: 200,
    body: succeeded("Subscription deleted"),
  },
  {
    operation: "delete",
    version: "1",
    reply: { status: 200, body: unsubscribed("404") },
    status: 404,
    body: failed(unsubscribed("404")),
  },
  {
    operation: "delete",
    version: "1",
    reply: { status: 200, body: unsubscribed("403") },
    status: 400,
    body: failed(unsubscribed("403")),
  },
  { operation: "delete", version: "2", reply: { status: 204 }, status: 200, body: succeeded("Subscription deleted") },
  { operation: "delete", version: "2", reply: { status: 200 }, status: 200, body: succeeded("Subscription deleted") },
  {
    operation: "delete",
    version: "2",
    reply: { status: 200, body: "<html>log in</html>" },
    status: 502,
    body: withoutJson(200),
  },
  { operation: "delete", version: "2", reply: { status: 404, body: notFound }, status: 404, body: failed(notFound) },
  { operation: "delete", version: "2", reply: { status: 404 }, status: 404, body: failed(notFound) },
  {
    operation: "delete",
    version: "2",
    reply: { status: 403, body: { error: "no" } },
    status: 400,
    body: failed({ error: "no" }),
  },
  { operation: "delete", version: "ld", reply: { status: 204 }, status: 200, body: succeeded("Subscription deleted") },
  {
    operation: "delete",
    version: "ld",
    reply: { status: 404, body: { title: "gone" } },
    status: 404,
    body: failed({ title: "gone" }),
  },
  {
    operation: "one",
    version: "2",
    reply: { status: 200, body: { id: "x", status: "active" } },
    status: 200,
    body: succeeded({ id: "x", status: "active" }),
  },
  { operation: "one", version: "2", reply: { status: 404, body: notFound }, status: 404, body: failed(notFound) },
  {
    operation: "one",
    version: "2",
    reply: { status: 404, body: "" },
    status: 404,
    body: failed({ description: "", error: "subscriptionId does not correspond to an active subscription" }),
  },
  { operation: "one", version: "2", reply: { status: 200, body: "not json" }, status: 502, body: withoutJson(200) },
  {
    operation: "one",
    version: "ld",
    reply: { status: 200, body: { id: "x" } },
    status: 200,
    body: succeeded({ id: "x" }),
  },
  {
    operation: "all",
    version: "2",
    reply: { status: 200, body: [{ id: "x" }] },
    status: 200,
    body: succeeded({ result: [{ id: "x" }] }),
  },
  { operation: "all", version: "2", reply: { status: 200, body: [] }, status: 200, body: succeeded({ result: [] }) },
  {
    operation: "all",
    version: "2",
    reply: { status: 400, body: { error: "BadRequest" } },
    status: 400,
    body: failed({ error: "BadRequest" }),
  },
  { operation: "all", version: "2", reply: { status: 200, body: { a: 1 } }, status: 502, body: failed({ a: 1 }) },
  { operation: "all", version: "ld", reply: { status: 404, body: "" }, status: 502, body: withoutJson(404) },
];

for (const { operation, version, reply, status, body } of rows)
  test(`${operation} with version ${version} answers ${status} when the broker says ${JSON.stringify(reply)}`, async (context) => {
    const { endpoint } = await brokerStandIn(context, () => reply);
    const { call } = await runningManagement(context);
    const { method, path, ...sent } = requests[operation](version, endpoint);

    const answer = await call(method, path, sent);

    assert.deepEqual({ status: answer.status, body: answer.body }, { status, body });
  });

for (const [operation, version] of [
  ["one", "2"],
  ["all", "ld"],
] as const)
  test(`${operation} with version ${version} answers with the digits of numbers that the broker sent`, async (context) => {
    const one = '{"id":"x","most":9007199254740993,"least":-12345678901234567890,"part":1.00000000000000000001}';
    const body = operation === "one" ? one : `[${one}]`;
    const { endpoint } = await brokerStandIn(context, () => ({ status: 200, body }));
    const { call } = await runningManagement(context);
    const { method, path, ...sent } = requests[operation](version, endpoint);

    const answer = await call(method, path, sent);

    assert.ok(answer.text.includes(one), answer.text);
  });
