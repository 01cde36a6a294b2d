import assert from "node:assert/strict";
import { test } from "node:test";
import { traceContextOf, traceFieldsOf } from "../../core/sdk/trace-context.js";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

const valid = [
  { text: `00-${traceId}-${spanId}-01`, isSampled: true },
  { text: `00-${traceId}-${spanId}-00`, isSampled: false },
  { text: `00-${traceId}-${spanId}-ff`, isSampled: true },
  { text: ` 00-${traceId}-${spanId}-01 `, isSampled: true },
  { text: `cc-${traceId}-${spanId}-01-what-comes-later`, isSampled: true },
] as const;

for (const { text, isSampled } of valid)
  test(`traceparent ${JSON.stringify(text)} is ${isSampled ? "" : "not "}sampled`, () =>
    assert.deepEqual(traceContextOf({ traceparent: text }), { traceId, spanId, isSampled, state: undefined }));

const invalid = [
  "",
  "00",
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-1`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `ff-${traceId}-${spanId}-01`,
  `cc-${traceId}-${spanId}-01-${"x".repeat(500)}`,
  JSON.parse("7"),
];

for (const text of invalid)
  test(`traceparent ${JSON.stringify(text).slice(0, 80)} is ignored`, () => {
    assert.equal(traceContextOf({ traceparent: text }), undefined);
    assert.deepEqual(traceFieldsOf({ traceparent: text }), {});
  });

const states = [
  { tracestate: "a=1,b=2", kept: "a=1,b=2" },
  { tracestate: `a=${"x".repeat(510)}`, kept: `a=${"x".repeat(510)}` },
  { tracestate: `a=${"x".repeat(511)}`, kept: undefined },
];

for (const { tracestate, kept } of states)
  test(`a tracestate of ${tracestate.length} characters is ${kept === undefined ? "left out" : "kept"}`, () =>
    assert.equal(traceContextOf({ traceparent: `00-${traceId}-${spanId}-01`, tracestate })?.state, kept));
