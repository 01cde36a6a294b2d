import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConfigurationFault, faultText } from "../../core/configuration/configuration-fault.js";

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
];
for (const { fault, text } of cases) {
  test(`a fault is written as ${text}`, () => assert.equal(faultText(fault), text));
}
