import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConfigurationFault, errorAt, faultText, nearest } from "../../core/configuration/configuration-fault.js";

const key = "a1.sinks.s.batch_size";
const cases: readonly { readonly fault: ConfigurationFault; readonly text: string }[] = [
  { fault: { severity: "error", key, reason: "must be given" }, text: `${key}: must be given` },
  {
    fault: { severity: "error", key, value: "abc", reason: "must be a whole number, 1 or more", line: 12 },
    text: `line 12: ${key} = "abc": must be a whole number, 1 or more`,
  },
  {
    fault: { severity: "warning", key: "a1.sinkz", reason: "is unknown", nearest: "sinks", line: 3 },
    text: 'line 3: a1.sinkz: is unknown; did you mean "sinks"?',
  },
  { fault: { severity: "error", key, value: 'a"\nb', reason: "is odd" }, text: `${key} = "a\\"\\nb": is odd` },
  {
    fault: { severity: "error", key: "a1.sinks.s.port\u200b", value: "50\u00a0\ufeff56", reason: "is not a\u202eb" },
    text: 'a1.sinks.s.port\\u200b = "50\\u00a0\\ufeff56": is not a\\u202eb',
  },
];
for (const { fault, text } of cases) {
  test(`a fault is written as ${text}`, () => assert.equal(faultText(fault), text));
}

test("a fault of a long value shows its beginning and how long it is", () => {
  const value = "(".repeat(50_000);

  const text = faultText(errorAt({ key, value }, `must be a regular expression: ${value}`));

  assert.match(text, /^a1\.sinks\.s\.batch_size = "\(+\.\.\. \(50000 characters\)": must be a regular/);
  assert.ok(text.length < 2500, `${text.length} characters`);
});

const secrets = [
  { value: "http://user:w0rd@host/path", reason: "must not hold a user", shows: "http://***@host/path" },
  { value: "http://user:w0/rd@host/", reason: "must be http://host/path", shows: "http://***@host/" },
  { value: "nats://u:w0rd@a, nats://b", reason: "is odd", shows: "nats://***@a, nats://b" },
  { value: "user:w0rd@host:9092", reason: 'must be host:port, not "user:w0rd@host:9092"', shows: "***@host:9092" },
  { value: "sslmode=no&password=w0rd", reason: 'sslmode "no" is unknown', shows: "sslmode=no&password=***" },
  { value: "http://host/?apikey=w0rd&x={{y}}", reason: '"{{y}}" is not known', shows: "http://host/?apikey=***" },
  { value: "host:9092 other:9093", reason: "is odd", shows: "host:9092 other:9093" },
] as const;
for (const { value, reason, shows } of secrets) {
  test(`a fault of a value with a secret shows ${shows}`, () => {
    const fault = errorAt({ key, value }, reason);

    assert.equal(fault.value, shows);
    assert.doesNotMatch(faultText(fault), /w0/);
  });
}

for (const [what, value] of [
  ["one word", "x".repeat(2_000_000)],
  ["slashes", "//".repeat(1_000_000)],
  ["slashes and the sign of a user in another line", `${"//".repeat(1_000_000)}\n@`],
  ["words and a secret", `${"a b ".repeat(500_000)}password=w0rd`],
] as const)
  test(`a fault of a value of millions of characters is made without reading it again and again: ${what}`, () => {
    // One that reads the value from each of its characters on does not end.
    const { value: shown } = errorAt({ key, value }, "is odd");

    assert.doesNotMatch(shown ?? "", /w0rd/);
  });

const names = [
  "rdb_host",
  "rdb_password",
  "batch_size",
  "batch_timeout",
  "handler.ngsi_version",
  "selector",
  "selector.type",
];
for (const { written, meant } of [
  { written: "rdb_pass", meant: "rdb_password" },
  { written: "rdb_hots", meant: "rdb_host" },
  { written: "Batch_Time", meant: "batch_timeout" },
  { written: "ngsi_version", meant: "handler.ngsi_version" },
  { written: "handler", meant: "handler.ngsi_version" },
  { written: "Selector", meant: "selector" },
  { written: "Selector.Type", meant: "selector.type" },
  { written: "Selector.mapping.Rome", meant: "selector.mapping.Rome" },
  { written: "selector.mapping.Rome", meant: undefined },
  { written: "colour", meant: undefined },
])
  test(`${written} was probably meant as ${meant ?? "no name that is known"}`, () =>
    assert.equal(nearest(written, names), meant));
