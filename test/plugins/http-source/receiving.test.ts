import assert from "node:assert/strict";
import type { OutgoingHttpHeaders } from "node:http";
import { test } from "node:test";
import { notification, send } from "./http-client.js";
import { runningSource } from "./running-source.js";

const json = { "Content-Type": "application/json" };
const entity = (id: string, value: unknown = 1) => ({ id, type: "T", p: { type: "Property", value } });
const body = (...data: readonly unknown[]) =>
  JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "s", data });

interface Case {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly status: number;
  /** Number of events. */
  readonly events?: number;
  readonly error?: string;
}

const cases: readonly Case[] = [
  { name: "a notification of one entity", status: 200, events: 1 },
  {
    name: "JSON-LD",
    headers: { "Content-Type": "application/ld+json" },
    body: body(entity("a", "é")),
    status: 200,
    events: 1,
  },
  { name: "two entities", body: body(entity("a"), entity("b")), status: 200, events: 2 },
  { name: "no entity", body: body(), status: 200, events: 0 },
  {
    name: "no subscription id",
    body: `{"type":"Notification","data":[${JSON.stringify(entity("a"))}]}`,
    status: 200,
    events: 1,
  },
  { name: "text that is not JSON", body: "{nojson", status: 400 },
  { name: "an array", body: "[]", status: 400 },
  { name: "an empty body", body: "", status: 400, error: "No content in the request" },
  {
    name: "no content type",
    headers: {},
    status: 400,
    error: "Missing content type. Required 'application/json; charset=utf-8'",
  },
  {
    name: "plain text",
    headers: { "Content-Type": "text/plain" },
    status: 400,
    error: "text/plain content type not supported",
  },
  { name: "GET", method: "GET", body: "", status: 400, error: "GET method not supported" },
  { name: "PUT", method: "PUT", status: 405, error: "PUT method not supported" },
  { name: "DELETE", method: "DELETE", body: "", status: 405, error: "DELETE method not supported" },
  { name: "PATCH", method: "PATCH", status: 405, error: "PATCH method not supported" },
  { name: "the target with a slash", path: "/notify/", status: 400, error: "/notify/ target not supported" },
  { name: "another target", path: "/other?a=b", status: 400, error: "/other target not supported" },
  { name: "a query string", path: "/notify?subscriptionId=urn:1", status: 200, events: 1 },
  {
    name: "a service of 50 characters",
    headers: { ...json, "Fiware-Service": "s".repeat(50) },
    status: 200,
    events: 1,
  },
  {
    name: "a service of 51 characters",
    headers: { ...json, "Fiware-Service": "s".repeat(51) },
    status: 400,
    error: "'fiware-service' header length greater than 50",
  },
  {
    name: "5 MB",
    body: body(entity("a", "x".repeat(5_000_000))),
    status: 200,
    events: 1,
  },
  {
    name: "an unknown charset",
    headers: { "Content-Type": "application/json; charset=utf-16" },
    status: 400,
    error: "application/json; charset=utf-16 content type not supported",
  },
  { name: "bytes that are not UTF-8", body: Uint8Array.of(0x7b, 0xff, 0x7d), status: 400 },
];

for (const { name, status, events = 0, error, ...sending } of cases)
  test(`${name} is answered ${status}`, async (context) => {
    const { port, emitted, accounted } = await runningSource(context);

    const answer = await send(port, sending);

    assert.equal(answer.status, status);
    assert.equal(answer.headers.allow, status === 405 ? "POST" : undefined);
    assert.equal(emitted.length, events);
    assert.deepEqual(
      accounted.map(({ failed }) => failed),
      [status !== 200],
    );
    if (status === 200) assert.equal(answer.content, "");
    else assert.equal(typeof JSON.parse(answer.content).error, "string");
    if (error !== undefined) assert.deepEqual(JSON.parse(answer.content), { error });
  });

test("HEAD is answered 400 without content", async (context) => {
  const { port } = await runningSource(context);

  const answer = await send(port, { method: "HEAD", body: "" });

  assert.deepEqual({ status: answer.status, content: answer.content }, { status: 400, content: "" });
});

const headerCases = [
  {
    name: "an empty service header",
    headers: { "Fiware-Service": "" },
    header: "fiware-service",
    value: "def_serv_ld",
  },
  { name: "no service header", headers: {}, header: "fiware-service", value: "def_serv_ld" },
  { name: "a tenant header", headers: { "NGSILD-Tenant": "t1" }, header: "fiware-service", value: "t1" },
  { name: "a correlator", headers: { "Fiware-Correlator": "abc" }, header: "fiware-correlator", value: "abc" },
  {
    name: "a link",
    headers: { Link: '<http://ctx/a.jsonld>; rel="http://www.w3.org/ns/json-ld#context"' },
    header: "link",
    value: "http://ctx/a.jsonld",
  },
] as const;
for (const { name, headers, header, value } of headerCases)
  test(`${name} gives the event header ${header} = ${value}`, async (context) => {
    const { port, emitted } = await runningSource(context);

    await send(port, { headers: { ...json, ...headers }, body: notification });

    assert.equal(emitted[0]?.headers[header], value);
  });
