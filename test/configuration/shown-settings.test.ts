import assert from "node:assert/strict";
import { test } from "node:test";
import { shownSettings } from "../../core/configuration/shown-settings.js";
import type { Schema } from "../../core/sdk/index.js";

const doc = "for tests";
const schema: Schema = {
  port: { doc, format: "port", default: 5050 },
  url: { doc, format: "text", default: "" },
  password: { doc, format: "text", default: "", sensitive: true },
  tokens: { doc, format: "words", default: [], sensitive: true },
  names: { doc, format: "words", default: ["a", "b"] },
  headers: { doc, format: "map", default: {} },
  "storages.*": { doc, format: "map", default: {} },
  retry: { doc, format: { fields: { times: { doc, format: "count", default: 3 } } } },
  login: { doc, format: { fields: { user: { doc, format: "text", default: "" } } }, sensitive: true },
};

const cases = [
  { what: "a default", config: { port: 5050 }, shown: [{ name: "port", value: 5050, default: true }] },
  { what: "another value", config: { port: 1 }, shown: [{ name: "port", value: 1, default: false }] },
  {
    what: "a secret",
    config: { password: "hunter2" },
    shown: [{ name: "password", value: "***", masked: true, default: false }],
  },
  {
    what: "a secret that is not set",
    config: { password: "" },
    shown: [{ name: "password", value: "", default: true }],
  },
  { what: "no tokens", config: { tokens: [] }, shown: [{ name: "tokens", value: "", default: true }] },
  {
    what: "a secret with fields",
    config: { login: { user: "root" } },
    shown: [{ name: "login", value: "***", masked: true, default: false }],
  },
  {
    what: "a password in a URL",
    config: { url: "http://u:p@host/" },
    shown: [{ name: "url", value: "***", masked: true, default: false }],
  },
  {
    what: "an API key in a query",
    config: { url: "http://host/?api_key=1" },
    shown: [{ name: "url", value: "***", masked: true, default: false }],
  },
  { what: "a list", config: { names: ["a", "b"] }, shown: [{ name: "names", value: ["a", "b"], default: true }] },
  {
    what: "a list with a secret",
    config: { names: ["a", "token=b"] },
    shown: [{ name: "names", value: "***", masked: true, default: false }],
  },
  {
    what: "a map by its keys",
    config: { headers: { "X-Auth-Token": "t", Accept: "json" } },
    shown: [
      { name: "headers.X-Auth-Token", value: "***", masked: true, default: false },
      { name: "headers.Accept", value: "json", default: false },
    ],
  },
  {
    what: "a map that is named like a property",
    config: { "storages.*": { a: "x" } },
    shown: [{ name: "storages.a", value: "x", default: false }],
  },
  {
    what: "an object by its fields",
    config: { retry: { times: 3 } },
    shown: [{ name: "retry.times", value: 3, default: true }],
  },
  {
    what: "a long text, cut",
    config: { url: "x".repeat(501) },
    shown: [{ name: "url", value: `${"x".repeat(500)}...`, default: false }],
  },
] as const;

for (const { what, config, shown } of cases)
  test(`of the settings of a component is shown: ${what}`, () => {
    assert.deepEqual(shownSettings(schema, config), shown);
  });
