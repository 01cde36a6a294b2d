import assert from "node:assert/strict";
import { test } from "node:test";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { handlerConfig, inboundRequest } from "./inbound-request.js";

const handler = new NgsiRestHandler({ ...handlerConfig, ngsi_version: "auto", default_service_path: "/gardens" });
const two = { subscriptionId: "s", data: [entity("e1"), entity("e2")] };

function entity(id: string) {
  return { id, type: "T", a: { type: "Number", value: 1, metadata: {} } };
}

function pathsOf(servicePath: string | undefined, body: unknown = two): readonly (string | undefined)[] {
  const path = servicePath === undefined ? {} : { "fiware-servicepath": servicePath };
  const { events } = handler.decode(inboundRequest({ headers: { "content-type": "application/json", ...path }, body }));
  return events.map(({ headers }) => headers["fiware-servicepath"]);
}

const accepted = [
  { sent: undefined, paths: ["/gardens", "/gardens"] },
  { sent: "", paths: ["/gardens", "/gardens"] },
  { sent: "/", paths: ["/", "/"] },
  { sent: "/a/b", paths: ["/a/b", "/a/b"] },
  { sent: "/a,/b", paths: ["/a", "/b"] },
  { sent: `/${"x".repeat(49)}`, paths: [`/${"x".repeat(49)}`, `/${"x".repeat(49)}`] },
] as const;
for (const { sent, paths } of accepted) {
  test(`the service path ${sent ?? "not sent"} puts two entities into ${paths.join(" and ")}`, () => {
    assert.deepEqual(pathsOf(sent), paths);
  });
}

const refused = [
  { sent: "a", says: "'fiware-servicepath' header value a must start with '/'" },
  { sent: "/a, /b", says: "'fiware-servicepath' header value  /b must start with '/'" },
  { sent: "/a,", says: "'fiware-servicepath' header value  must start with '/'" },
  { sent: `/${"x".repeat(50)}`, says: `'fiware-servicepath' header length greater than 50 for /${"x".repeat(50)}` },
  {
    sent: "/a,/b,/c",
    says: "'fiware-servicepath' header value does not match the number of notified context responses",
  },
] as const;
for (const { sent, says } of refused) {
  test(`the service path ${sent} is refused`, () => {
    assert.throws(() => pathsOf(sent), { status: 400, message: says });
  });
}

test("NGSI-LD has no service path, whatever the header says", () => {
  const body = { type: "Notification", data: [{ id: "urn:e", type: "T" }] };

  assert.deepEqual(pathsOf("nonsense", body), ["/"]);
});

test("the request is accounted to the first path", () => {
  const headers = { "content-type": "application/json", "fiware-servicepath": "/a,/b" };

  assert.equal(handler.decode(inboundRequest({ headers, body: two })).servicePath, "/a");
});

test("the entities of one path have it in their headers", () => {
  const headers = { "content-type": "application/json", "fiware-servicepath": "/a" };

  const { events } = handler.decode(inboundRequest({ headers, body: two }));

  assert.deepEqual(
    events.map((event) => event.headers["fiware-servicepath"]),
    ["/a", "/a"],
  );
});
