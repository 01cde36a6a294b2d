import assert from "node:assert/strict";
import { test } from "node:test";
import type { Property } from "../../../core/sdk/index.js";
import plugin from "../../../plugins/mqtt-source/index.js";
import { originOf } from "../../../plugins/mqtt-source/topics.js";
import { mqttConfig } from "./running-source.js";

const faulty = [
  { given: {}, properties: [] },
  { given: { url: "http://broker" }, properties: ["url"] },
  { given: { url: "broker:1883" }, properties: ["url"] },
  { given: { url: "mqtt://user:word@broker" }, properties: ["url"] },
  { given: { topics: [] }, properties: ["topics"] },
  { given: { topics: ["a/+/b", "#", "/+/attrs"] }, properties: [] },
  { given: { topics: ["a/b+", "a/#/b", "a#"] }, properties: ["topics", "topics", "topics"] },
  { given: { topic_pattern: "/+service/+path/+/#" }, properties: [] },
  { given: { topic_pattern: "/a/b" }, properties: ["topic_pattern"] },
  { given: { topic_pattern: "/#path/+service" }, properties: ["topic_pattern"] },
  { given: { topic_pattern: "/+service/+service" }, properties: ["topic_pattern"] },
  { given: { username: "user", password: "word@" }, properties: [] },
  { given: { password: "word@" }, properties: ["password"] },
  { given: { tls_key_file: "key.pem" }, properties: ["tls_cert_file"] },
  { given: { tls_cert_file: "cert.pem" }, properties: ["tls_key_file"] },
] as const;
for (const { given, properties } of faulty)
  test(`a source with ${JSON.stringify(given)} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...mqttConfig, ...given }) ?? [];

    assert.deepEqual(
      faults.map(({ property }) => property),
      properties,
    );
    assert.doesNotMatch(JSON.stringify(faults), /word@/);
  });

const nothing = { service: undefined, servicePath: undefined };
const topics = [
  { topic: "/openiot/park/attrs", pattern: "/+service/+path/attrs", origin: ["openiot", "/park"] },
  { topic: "openiot/park/east/attrs", pattern: "+service/+path/+path/attrs", origin: ["openiot", "/park/east"] },
  { topic: "orion/openiot", pattern: "orion/+service/#path", origin: ["openiot", undefined] },
  { topic: "orion/openiot/park/east", pattern: "orion/+service/#path", origin: ["openiot", "/park/east"] },
  { topic: "orion/x/openiot/y/z", pattern: "orion/+/+service/#", origin: ["openiot", undefined] },
  { topic: "orion//park", pattern: "orion/+service/+path", origin: [undefined, "/park"] },
] as const;
for (const { topic, pattern, origin } of topics)
  test(`topic ${topic} by pattern ${pattern} is of service ${origin[0]} and path ${origin[1]}`, () =>
    assert.deepEqual(originOf(topic, pattern), { service: origin[0], servicePath: origin[1] }));

for (const topic of ["orion/openiot/park/more", "orion/openiot", "other/openiot/park"])
  test(`topic ${topic} does not fit the pattern orion/+service/+path and tells nothing`, () =>
    assert.deepEqual(originOf(topic, "orion/+service/+path"), nothing));

test("two sources with one client_id at one broker are a fault of the configuration", () => {
  const names = Object.entries<Property>(plugin.config).flatMap(([name, { resource }]) =>
    resource === "client" ? [name] : [],
  );

  assert.deepEqual(names, ["url", "client_id"]);
});
