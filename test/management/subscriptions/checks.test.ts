import assert from "node:assert/strict";
import { test } from "node:test";
import { runningManagement } from "../../support/running-management.js";
import { having, ld, v1, v2, without } from "./payloads.js";

/** Nobody is asked: every call here is refused before. */
const endpoint = { host: "127.0.0.1", port: "1", ssl: "false", xauthtoken: "t" };
const create = (version: string, subscription: unknown, at: unknown = endpoint) => ({
  method: "POST",
  path: `/v1/subscriptions?ngsi_version=${version}`,
  body: JSON.stringify({ subscription, endpoint: at }),
});
const read = (query: string, body = JSON.stringify(endpoint)) => ({
  method: "GET",
  path: `/v1/subscriptions${query}`,
  body,
});
const remove = (query: string, body = JSON.stringify(endpoint)) => ({ ...read(query, body), method: "DELETE" });

const wrong = (name: string) => `Parse error, wrong parameter (${name}). Check it for errors`;
const missing = (name: string) => `Parse error, missing parameter (${name}). Check it for errors`;
const empty = (name: string) => `Parse error, empty parameter (${name}). Check it for errors`;
const unknownVersion = "Parse error, invalid parameter (ngsi_version): Must be 1 or 2. Check it for errors";
const malformed = "Parse error, malformed Json. Check it for errors";
const field = (complaint: string) => `Invalid subscription, field ${complaint}`;
const at = (complaint: string) => `Invalid endpoint, field ${complaint}`;
const post = { ...create("2", v2), path: "/v1/subscriptions" };

interface Refused {
  readonly call: { readonly method: string; readonly path: string; readonly body: string };
  readonly error: string;
  readonly status?: number;
}

const cases: readonly Refused[] = [
  { call: { ...post }, error: wrong("ngsi_version") },
  { call: { ...post, path: "/v1/subscriptions?ngsi_version=" }, error: wrong("ngsi_version") },
  { call: { ...post, path: "/v1/subscriptions?ngsi_version=3" }, error: unknownVersion },
  { call: { ...post, path: "/v1/subscriptions?ngsi_version=3&ngsi_version=2" }, error: unknownVersion },
  { call: { ...create("2", v2), body: "{bad" }, error: malformed },
  { call: { ...create("2", v2), body: "" }, error: malformed },
  { call: { ...create("2", v2), body: "null" }, error: malformed },
  { call: { ...create("2", v2), body: "[]" }, error: malformed },
  { call: create("2", "text"), error: malformed },
  { call: create("2", having(v2, "description", {})), error: malformed },
  { call: create("2", having(v2, "subject.entities", "Room")), error: malformed },
  { call: create("2", {}, "text"), error: malformed },
  { call: create("1", {}), error: "Missing subscription" },
  { call: create("1", undefined), error: "Missing subscription" },
  { call: create("1", { attributes: [] }), error: "Missing subscription" },
  { call: create("1", without(v1, "entities")), error: field("entities is missing") },
  { call: create("1", having(v1, "entities", [])), error: field("entities is missing") },
  { call: create("1", without(v1, "entities.0.isPattern")), error: field("entities has missing fields") },
  {
    call: create("1", having(v1, "entities", [...v1.entities, { type: "", isPattern: "false", id: "a" }])),
    error: field("entities has empty fields"),
  },
  { call: create("1", without(v1, "reference")), error: field("reference is missing") },
  { call: create("1", without(v1, "duration")), error: field("duration is missing") },
  { call: create("1", having(v1, "duration", null)), error: field("duration is missing") },
  { call: create("1", without(v1, "notifyConditions")), error: field("notifyConditions is missing") },
  {
    call: create("1", without(v1, "notifyConditions.0.condValues")),
    error: field("notifyConditions has missing fields"),
  },
  { call: create("1", having(v1, "notifyConditions.0.type", "")), error: field("notifyConditions has empty fields") },
  { call: create("1", without(v1, "throttling")), error: field("throttling is missing") },
  { call: create("1", without(v1, "attributes")), error: field("attributes is missing") },
  { call: create("1", having(v1, "reference", "")), error: field("reference is empty") },
  { call: create("1", having(v1, "duration", "")), error: field("duration is empty") },
  { call: create("1", having(v1, "throttling", "")), error: field("throttling is empty") },
  { call: create("1", without(having(v1, "duration", ""), "throttling")), error: field("throttling is missing") },
  { call: { ...create("1", v1), body: JSON.stringify({ subscription: v1 }) }, error: "Missing endpoint" },
  { call: create("2", {}), error: "Missing subscription" },
  { call: create("2", null), error: "Invalid subscription" },
  { call: create("2", without(v2, "subject.entities")), error: field("entities is missing") },
  { call: create("2", having(v2, "description", "")), error: field("description is empty") },
  { call: create("2", having(v2, "expires", "")), error: field("expires is empty") },
  { call: create("2", without(v2, "subject")), error: field("subject is missing") },
  { call: create("2", having(v2, "subject", {})), error: field("subject is empty") },
  { call: create("2", having(v2, "subject.entities", [])), error: field("entities is empty") },
  { call: create("2", without(v2, "subject.entities.0.idPattern")), error: field("idPattern is missing") },
  { call: create("2", having(v2, "subject.entities.0.type", "")), error: field("type is empty") },
  { call: create("2", having(v2, "subject.condition.expression.q", "")), error: field("q is empty") },
  { call: create("2", without(v2, "notification")), error: field("notification is missing") },
  { call: create("2", without(v2, "notification.http")), error: field("http is missing") },
  { call: create("2", without(v2, "notification.http.url")), error: field("url is missing") },
  { call: create("2", having(v2, "notification.http.url", "")), error: field("url is empty") },
  { call: create("2", having(v2, "notification", { mqtt: { topic: "a" } })), error: field("url is missing") },
  { call: create("2", having(v2, "notification", { httpCustom: "a" })), error: malformed },
  { call: create("2", having(v2, "subject.condition.attrs", "a")), error: malformed },
  { call: create("2", having(v2, "subject.entities.0", { id: "" })), error: field("id is empty") },
  { call: { ...create("2", v2), body: JSON.stringify({ subscription: v2 }) }, error: "Missing endpoint" },
  { call: create("2", v2, null), error: "Missing endpoint" },
  { call: create("2", v2, {}), error: "Missing endpoint" },
  { call: create("2", v2, without(endpoint, "ssl")), error: at("ssl is missing") },
  { call: create("2", v2, without(endpoint, "host")), error: at("host is missing") },
  { call: create("2", v2, without(endpoint, "port")), error: at("port is missing") },
  { call: create("2", v2, { ssl: "" }), error: at("host is missing") },
  { call: create("2", v2, { ...endpoint, host: "" }), error: at("host is empty") },
  { call: create("2", v2, { ...endpoint, port: "" }), error: at("port is empty") },
  { call: create("2", v2, { ...endpoint, ssl: "" }), error: at("ssl is empty") },
  { call: create("2", v2, { ...endpoint, ssl: "TRUE" }), error: at("ssl invalid") },
  { call: create("2", v2, { ...endpoint, host: "a/b" }), error: at("host invalid") },
  { call: create("2", v2, { ...endpoint, host: "a\r\nX: y" }), error: at("host invalid") },
  { call: create("2", v2, { ...endpoint, port: "99999" }), error: at("port invalid") },
  { call: create("2", v2, { ...endpoint, port: -1 }), error: at("port invalid") },
  { call: create("2", v2, { ...endpoint, xauthtoken: "a\r\nX: y" }), error: at("xauthtoken invalid") },
  {
    call: create("2", v2, { ...endpoint, xauthtoken: undefined, authToken: "\u20ac" }),
    error: at("xauthtoken invalid"),
  },
  ...["/a?b", "/a#b", "/..", "/a/../b", "/a//b", "//a", "/%2e%2e/b", "/a;b", "/a\\b", "a b", "/a\r\nX: y", "?"].map(
    (path) => ({
      call: create("2", v2, { ...endpoint, path }),
      error: at("path invalid"),
    }),
  ),
  { call: create("ld", {}), error: "Missing subscription" },
  { call: create("ld", without(ld, "type")), error: field("type is missing") },
  { call: create("ld", having(ld, "type", "Room")), error: field("type invalid") },
  { call: create("ld", without(ld, "entities")), error: field("entities is missing") },
  { call: create("ld", without(ld, "notification.endpoint")), error: field("endpoint is missing") },
  { call: create("ld", having(ld, "notification.endpoint.uri", "")), error: field("uri is empty") },
  { call: read(""), error: missing("ngsi_version") },
  { call: read("?ngsi_version="), error: empty("ngsi_version") },
  { call: read("?ngsi_version=3"), error: unknownVersion },
  { call: read("?ngsi_version=1"), status: 501, error: "GET /v1/subscriptions not implemented for NGSI version 1" },
  {
    call: read("?ngsi_version=1&subscription_id=x"),
    status: 501,
    error: "GET /v1/subscriptions not implemented",
  },
  { call: read("?ngsi_version=2&subscription_id="), error: empty("subscription_id") },
  { call: read("?ngsi_version=2", "{bad"), error: malformed },
  { call: read("?ngsi_version=2", "{}"), error: "Missing endpoint" },
  { call: read("?ngsi_version=2", ""), error: "Missing endpoint" },
  { call: read("?ngsi_version=2", '{"host":"a","ssl":"true"}'), error: at("port is missing") },
  {
    call: read("?ngsi_version=2&subscription_id=x", '{"host":"","port":"1","ssl":"true"}'),
    error: at("host is empty"),
  },
  { call: remove(""), error: wrong("subscription_id") },
  { call: remove("?subscription_id=&ngsi_version=2"), error: wrong("subscription_id") },
  { call: remove("?subscription_id=x"), error: wrong("ngsi_version") },
  { call: remove("?subscription_id=x&ngsi_version="), error: wrong("ngsi_version") },
  { call: remove("?subscription_id=x&ngsi_version=3"), error: `${unknownVersion}.` },
  { call: remove("?subscription_id=x&ngsi_version=2", "not json"), error: malformed },
  { call: remove("?subscription_id=x&ngsi_version=2", ""), error: "Missing endpoint" },
  { call: remove("?subscription_id=x&ngsi_version=2", "{}"), error: "Missing endpoint" },
  { call: remove("?subscription_id=x&ngsi_version=2", '{"endpoint":{}}'), error: "Missing endpoint" },
  { call: remove("?subscription_id=x&ngsi_version=1", '{"host":"a"}'), error: at("ssl is missing") },
  {
    call: remove("?subscription_id=x&ngsi_version=1", JSON.stringify({ ...endpoint, xauthtoken: "" })),
    error: "Empty Auth-Token. Required for DELETE subscriptions",
  },
];

test("calls that are wrong are refused in the order and the words of the specification", async (context) => {
  const { call } = await runningManagement(context);

  for (const { call: refused, error, ...given } of cases) {
    const { status, body } = await call(refused.method, refused.path, { body: refused.body });

    assert.deepEqual(
      { status, body },
      { status: given.status ?? 400, body: { success: "false", error } },
      `${refused.method} ${refused.path} ${refused.body}`,
    );
  }
});

test("a body that is not UTF-8 is malformed", async (context) => {
  const { call } = await runningManagement(context);

  const { body } = await call("POST", "/v1/subscriptions?ngsi_version=2", { body: Uint8Array.of(0x7b, 0xff, 0x7d) });

  assert.deepEqual(body, { success: "false", error: malformed });
});

test("a body beyond the limit is answered 413", async (context) => {
  const access = { bodyLimit: 10 };
  const { call } = await runningManagement(context, { access });

  const { status, body } = await call("GET", "/v1/subscriptions?ngsi_version=2", { body: "01234567890" });

  assert.equal(status, 413);
  assert.deepEqual(body, {
    success: "false",
    error:
      "GET request could not be read: its body is larger than 10 bytes; send less, or start the agent with a larger --management-body-limit (DENEB_MANAGEMENT_BODY_LIMIT)",
  });
});

test("a body that is not what its Content-Encoding says is answered with the encoding", async (context) => {
  const { call } = await runningManagement(context);
  const sent = (encoding: string) =>
    call("POST", "/v1/subscriptions?ngsi_version=2", { body: "{}", headers: { "Content-Encoding": encoding } });

  for (const [encoding, status] of [
    ["gzip", 400],
    ["zip", 415],
  ] as const) {
    const answer = await sent(encoding);
    assert.equal(answer.status, status);
    assert.match(String(answer.body.error), new RegExp(`Content-Encoding "${encoding}" says .*; send it without`));
  }
});
