import assert from "node:assert/strict";
import { test } from "node:test";
import { Masking } from "../../../core/agent/arrivals/masking.js";

const masking = new Masking(["configured-secret", 'quo"ted&secret']);

const bodies = [
  { what: "no secret", text: '{"id":"r1","temperature":{"value":12345678901234567890}}' },
  { what: "words that look like secrets", text: '{"passengers":3,"keyboard":"x","compass":1,"monkey":2,"author":"a"}' },
  { what: "a secret member", text: '{"a":1,"password":"x","b":2}', shown: '{"a":1,"password":"***","b":2}' },
  { what: "a secret number", text: '{"otp":123456,"b":2}', shown: '{"otp":"***","b":2}' },
  {
    what: "a secret attribute",
    text: '{"apiKey":{"type":"Text","value":"x","metadata":{"a":[1,{"b":"}"}]}},"t":1}',
    shown: '{"apiKey":"***","t":1}',
  },
  {
    what: "a key that is written with escapes",
    text: String.raw`{"pass\u0077ord":"x","a":1}`,
    shown: String.raw`{"pass\u0077ord":"***","a":1}`,
  },
  { what: "a value with quotes", text: String.raw`{"token":"a\"b","c":1}`, shown: '{"token":"***","c":1}' },
  {
    what: "an attribute of NGSI v1 by its name",
    text: '[{"name":"db_password","type":"T","value":"x"},{"name":"room","value":"y"}]',
    shown: '[{"name":"db_password","type":"T","value":"***"},{"name":"room","value":"y"}]',
  },
  {
    what: "the value before the name",
    text: '{"value":{"a":"x"},"name":"secret"}',
    shown: '{"value":"***","name":"secret"}',
  },
  { what: "a secret within a secret", text: '{"token":{"password":"x"},"a":1}', shown: '{"token":"***","a":1}' },
  { what: "a secret that is cut", text: '{"a":1,"password":"hunt', shown: '{"a":1,"password":"***"' },
  { what: "an object that is cut", text: '{"a":1,"password":{"value":"hunt', shown: '{"a":1,"password":"***"' },
  { what: "a secret in broken JSON", text: '{"a":1,,}]]{"password":"x"', shown: '{"a":1,,}]]{"password":"***"' },
  { what: "a form", text: "user=a&password=x%20y&b=1", shown: "user=a&password=***&b=1" },
  { what: "lines of text", text: "user: a\npassword: x\n", shown: "user: a\npassword: ***\n" },
  { what: "a bearer token", text: '{"h":"Bearer abc.def"}', shown: '{"h":"Bearer ***"}' },
  { what: "a password in a URL", text: '{"u":"http://a:b@host/x"}', shown: '{"u":"http://***@host/x"}' },
  { what: "a JSON web token", text: '{"v":"eyJhbGciOi.eyJzdWIi.sig-x"}', shown: '{"v":"***"}' },
  { what: "a secret of the configuration", text: '{"v":"xconfigured-secretx"}', shown: '{"v":"x***x"}' },
  { what: "one that JSON escapes", text: JSON.stringify({ v: 'quo"ted&secret' }), shown: '{"v":"***"}' },
] as const;

for (const { what, text, ...one } of bodies)
  test(`of a body with ${what} no secret is shown, and the rest is as it was`, () => {
    assert.equal(masking.body(text, 10_000), "shown" in one ? one.shown : text);
  });

const paths = [
  { path: "/notify", shown: "/notify" },
  { path: "/notify?subscriptionId=a&token=b&x=c", shown: "/notify?subscriptionId=a&token=***&x=c" },
  { path: "/notify?access%5Ftoken=b", shown: "/notify?access%5Ftoken=***" },
  { path: "/notify?api-key=a=b&sig=c", shown: "/notify?api-key=***&sig=***" },
  { path: "/notify?q=quo%22ted%26secret", shown: "/notify?q=***" },
  { path: "/notify?%=1&token=%", shown: "/notify?%=1&token=***" },
];

for (const { path, shown } of paths)
  test(`the path ${path} is shown as ${shown}`, () => {
    assert.equal(masking.path(path), shown);
  });

test("of headers only the values of known ones are shown", () => {
  const headers = {
    authorization: "Basic abc",
    "x-auth-token": "t",
    "x-strange": "anything",
    "fiware-service": "openiot",
    "content-type": "application/json",
    link: "<http://u:p@host/context>",
  };

  assert.deepEqual(masking.headers(headers), {
    authorization: "***",
    "x-auth-token": "***",
    "x-strange": "***",
    "fiware-service": "openiot",
    "content-type": "application/json",
    link: "<http://***@host/context>",
  });
});

const hostile = [
  "a".repeat(65_536),
  "eyJ".repeat(20_000),
  "eyJ-".repeat(16_000),
  "://".repeat(20_000),
  '"'.repeat(65_536),
  "{".repeat(65_536),
  '{"a":'.repeat(13_000),
  "-----BEGIN PRIVATE KEY-----".repeat(2400),
  "Bearer ".repeat(9000),
  `"${"\\".repeat(65_000)}`,
  "password=".repeat(7000),
];

for (const text of hostile)
  test(`a body of ${text.length} characters such as ${text.slice(0, 12)} is masked in one pass`, () => {
    const shown = masking.body(text, 65_536);

    assert.ok(shown.length <= 65_536);
  });
