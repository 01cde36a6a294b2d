import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../../../plugins/http-source/index.js";
import { httpConfig } from "./running-source.js";

const cases = [
  { request_timeout: 30_000, headers_timeout: 30_000, properties: [] },
  { request_timeout: 0, headers_timeout: 15_000, properties: [] },
  { request_timeout: 10_000, headers_timeout: 15_000, properties: ["headers_timeout"] },
] as const;
for (const { request_timeout, headers_timeout, properties } of cases)
  test(`headers_timeout ${headers_timeout} with request_timeout ${request_timeout} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...httpConfig, request_timeout, headers_timeout });

    assert.deepEqual(
      faults?.map(({ property }) => property),
      properties,
    );
  });

const addresses = [
  { bind: "::", properties: [] },
  { bind: "fe80::1%eth0", properties: [] },
  { bind: "[::1]", properties: ["bind"] },
  { bind: "::1", properties: [] },
  { bind: "::ffff:127.0.0.1", properties: [] },
  { bind: "my_host.example.org", properties: [] },
  { bind: "localhost:5050", properties: ["bind"] },
  { bind: "0.0.0.0:5050", properties: ["bind"] },
  { bind: "[::1]:5050", properties: ["bind"] },
  { bind: "http://localhost", properties: ["bind"] },
  { bind: "127.0.0.1, ::1", properties: ["bind"] },
  { bind: "fe80::1", properties: ["bind"] },
] as const;
for (const { bind, properties } of addresses)
  test(`bind ${bind} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...httpConfig, bind });

    assert.deepEqual(
      faults?.map(({ property }) => property),
      properties,
    );
  });

for (const { max_bytes_in_flight, properties } of [
  { max_bytes_in_flight: -1, properties: [] },
  { max_bytes_in_flight: 1, properties: [] },
  { max_bytes_in_flight: 0, properties: ["max_bytes_in_flight"] },
])
  test(`max_bytes_in_flight ${max_bytes_in_flight} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...httpConfig, max_bytes_in_flight });

    assert.deepEqual(
      faults?.map(({ property }) => property),
      properties,
    );
  });
