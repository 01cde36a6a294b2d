import assert from "node:assert/strict";
import { type AnyPlugin, API_VERSION, type FormatName, type Property } from "../sdk/index.js";
import { valuesOf } from "./component-fixture.js";
import type { ConformanceCase } from "./conformance-case.js";
import type { PluginSetup } from "./plugin-setup.js";

/** What every plugin declares: sentences for people, and defaults that its own formats and checks accept. */
export function declarationCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  const { kind, type, summary, config, apiVersion = API_VERSION } = definition;
  return [
    {
      name: `${kind} ${type} says what it is in a sentence, and was written for this version of the contract`,
      async run() {
        assert.match(summary, SENTENCE, "the summary is one sentence with a full stop");
        assert.equal(apiVersion, API_VERSION);
      },
    },
    ...Object.entries(config).map(([name, property]) => ({
      name: `property ${name} is documented and its default is right`,
      run: async () => checkProperty(name, property),
    })),
    {
      name: "the plugin's own check accepts its defaults",
      async run() {
        const given = setup.config?.("folder") ?? {};
        assert.deepEqual(definition.check?.(valuesOf(definition, given)) ?? [], []);
      },
    },
  ];
}

const SENTENCE = /^\S.*\.$/s;

function checkProperty(name: string, { doc, format, default: value, min, max, env, sensitive }: Property): void {
  assert.match(doc, SENTENCE, `doc of "${name}" is a sentence with a full stop`);
  if (env !== undefined) assert.match(env, /^[A-Z][A-Z0-9_]*$/, `env of "${name}" is the name of a variable`);
  const secret = /passw|secret|token|credential/i.test(name);
  if (secret) assert.equal(sensitive, true, `"${name}" names a secret and must be sensitive`);
  if (value === undefined) return;
  const holds = typeof format === "string" ? formats[format](value) : format.some((choice) => choice === value);
  assert.ok(holds, `default ${JSON.stringify(value)} of "${name}" is not of its format`);
  if (typeof value !== "number") return;
  assert.ok(value >= (min ?? value) && value <= (max ?? value), `default ${value} of "${name}" is out of its range`);
}

const formats: Readonly<Record<FormatName, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  count: isCount,
  integer: Number.isSafeInteger,
  port: (value) => isCount(value) && Number(value) < 65_536,
  millis: isCount,
  seconds: isCount,
  words: (value) => Array.isArray(value) && value.every((word) => typeof word === "string"),
  "millis-list": (value) => Array.isArray(value) && value.every((one) => isCount(one) && one !== 0),
  map: (value) => typeof value === "object",
};

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
