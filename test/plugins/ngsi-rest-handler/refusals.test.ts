import assert from "node:assert/strict";
import { test } from "node:test";
import { RejectedRequest } from "../../../core/sdk/index.js";
import plugin from "../../../plugins/ngsi-rest-handler/index.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { handlerConfig, inboundRequest, type Sent } from "./inbound-request.js";

const handler = new NgsiRestHandler(handlerConfig);

interface Refused {
  readonly sent: Sent;
  readonly status?: number;
  readonly message: string | RegExp;
}

const json = { "content-type": "application/json" };
const missing = "Missing content type. Required 'application/json; charset=utf-8'";
const refusals: readonly Refused[] = [
  { sent: { method: "GET" }, message: "GET method not supported" },
  { sent: { method: "HEAD" }, message: "GET method not supported" },
  { sent: { method: "OPTIONS" }, status: 405, message: "OPTIONS method not supported" },
  { sent: { path: "/notify/" }, message: "/notify/ target not supported" },
  { sent: { path: "//notify" }, message: "//notify target not supported" },
  { sent: { path: "/%6eotify?x" }, message: "/%6eotify target not supported" },
  { sent: { path: "/notify;x" }, message: "/notify;x target not supported" },
  { sent: { path: "/Notify" }, message: "/Notify target not supported" },
  { sent: { headers: {} }, message: missing },
  { sent: { headers: { "content-type": " " } }, message: missing },
  {
    sent: { headers: { "content-type": "application/jsonx" } },
    message: "application/jsonx content type not supported",
  },
  { sent: { headers: { "content-type": "text/\tx" } }, message: "text/\\u{9}x content type not supported" },
  {
    sent: { headers: { "content-type": "application/json; charset=ISO-8859-1" } },
    message: "application/json; charset=ISO-8859-1 content type not supported",
  },
  {
    sent: { headers: { ...json, "content-encoding": "gzip" } },
    status: 415,
    message: "gzip content encoding not supported",
  },
  {
    sent: { headers: { ...json, "fiware-service": "s".repeat(51) } },
    message: "'fiware-service' header length greater than 50",
  },
  { sent: { body: "" }, message: "No content in the request" },
  { sent: { body: Uint8Array.of(0x22, 0xc3, 0x22) }, message: "The content is not valid UTF-8" },
  { sent: { body: "{" }, message: /./ },
  { sent: { body: "[]" }, message: /./ },
  { sent: { body: {} }, message: /./ },
];
const headersOf: ReadonlyMap<number, object> = new Map([
  [405, { Allow: "POST" }],
  [415, { "Accept-Encoding": "identity" }],
]);
for (const { sent, status = 400, message } of refusals)
  test(`${JSON.stringify(sent)} is refused with ${status} ${message}`, () => {
    assert.throws(
      () => handler.decode(inboundRequest(sent)),
      (error) => {
        assert.ok(error instanceof RejectedRequest);
        assert.equal(error.status, status);
        assert.deepEqual(error.headers, headersOf.get(status) ?? {});
        if (typeof message === "string") assert.equal(error.message, message);
        else assert.match(error.message, message);
        return true;
      },
    );
  });

const faulty = [
  { config: {}, properties: [] },
  { config: { notification_target: "notify" }, properties: ["notification_target"] },
  { config: { notification_target: "/notify?a" }, properties: ["notification_target"] },
  { config: { default_service: "my-service" }, properties: ["default_service"] },
  { config: { default_service: "" }, properties: ["default_service"] },
  {
    config: { default_service_path: "a", notification_target: "" },
    properties: ["notification_target", "default_service_path"],
  },
] as const;
for (const { config, properties } of faulty)
  test(`configuration ${JSON.stringify(config)} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...handlerConfig, ...config });

    assert.deepEqual(
      faults?.map(({ property }) => property),
      properties,
    );
  });

const senders = [
  { version: "ld", headers: { "fiware-servicepath": "/a" }, sender: { service: "default", servicePath: "/" } },
  {
    version: "auto",
    headers: { "fiware-service": "s", "fiware-servicepath": "/a" },
    sender: { service: "s", servicePath: "/a" },
  },
  { version: "v2", headers: { "fiware-servicepath": "a" }, sender: { service: "default", servicePath: "/" } },
  { version: "v2", headers: { "fiware-service": "s".repeat(51) }, sender: undefined },
] as const;
for (const { version, headers, sender } of senders)
  test(`with ngsi_version ${version} a refusal of ${JSON.stringify(headers)} names the sender`, () => {
    const handler = new NgsiRestHandler({ ...handlerConfig, ngsi_version: version });
    const request = inboundRequest({ body: "{bad", headers: { "content-type": "application/json", ...headers } });

    assert.throws(
      () => handler.decode(request),
      (error) => {
        assert.ok(error instanceof RejectedRequest);
        assert.deepEqual(error.sender, sender);
        return true;
      },
    );
  });
