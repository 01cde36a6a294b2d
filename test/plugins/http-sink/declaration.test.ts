import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../../../plugins/http-sink/index.js";
import { sinkConfig } from "./receiver.js";

const cases = [
  { given: {}, properties: [] },
  { given: { url: "https://api.example.org:8443/{{header.fiware-service}}?id={{entity.id}}" }, properties: [] },
  { given: { url: "ftp://api.example.org/" }, properties: ["url"] },
  { given: { url: "/entities" }, properties: ["url"] },
  { given: { url: "https://user:secr@api.example.org/" }, properties: ["url"] },
  { given: { url: "https://{{header.fiware-service}}.example.org/" }, properties: ["url"] },
  { given: { url: "https://example.org{{header.fiware-service}}/" }, properties: ["url"] },
  { given: { url: "https://example.org/{{entity}}" }, properties: ["url"] },
  { given: { body: '{"id":{{entity.identifier}}}' }, properties: ["body"] },
  { given: { body: '{"a":{"b":{{entity}}}}' }, properties: [] },
  { given: { batch_body: "[]" }, properties: ["batch_body"] },
  { given: { batch_body: "[{{entity}}]" }, properties: ["batch_body"] },
  { given: { headers: { Link: "<{{header.link}}>" } }, properties: [] },
  {
    given: { headers: { "Content-Length": "1", "bad name": "x", Ok: "{{events}}" } },
    properties: ["headers", "headers", "headers"],
  },
  { given: { bearer_token: "a", username: "b" }, properties: ["bearer_token"] },
  { given: { bearer_token: "a secr" }, properties: ["bearer_token"] },
  { given: { password: "secr" }, properties: ["password"] },
  { given: { content_type: "text/plain; title=\u017elu\u0165" }, properties: ["content_type"] },
  { given: { content_type: "text/plain\n" }, properties: ["content_type"] },
  { given: { tls_key_file: "key.pem" }, properties: ["tls_cert_file"] },
  { given: { tls_cert_file: "cert.pem" }, properties: ["tls_key_file"] },
] as const;
for (const { given, properties } of cases)
  test(`a sink with ${JSON.stringify(given)} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...sinkConfig, ...given }) ?? [];

    assert.deepEqual(
      faults.map(({ property }) => property),
      properties,
    );
    assert.doesNotMatch(JSON.stringify(faults), /secr/);
  });
