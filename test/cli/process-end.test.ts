import assert from "node:assert/strict";
import { test } from "node:test";
import { type End, endFields, endText, isEndedByStop } from "../../core/cli/workers/process-end.js";

interface Case {
  readonly what: string;
  readonly end: Omit<End, "lasted">;
  readonly text: string;
  readonly fields: object;
}

const cases: readonly Case[] = [
  {
    what: "a code",
    end: { code: 5, signal: null, lost: 0 },
    text: "it ended with exit code 5",
    fields: { exitCode: 5 },
  },
  {
    what: "a signal",
    end: { code: null, signal: "SIGKILL", lost: 0 },
    text: "it ended with signal SIGKILL",
    fields: { signal: "SIGKILL" },
  },
  {
    what: "a signal, with events in memory",
    end: { code: null, signal: "SIGKILL", lost: 7 },
    text: "it ended with signal SIGKILL",
    fields: { signal: "SIGKILL", eventsLost: 7 },
  },
  {
    what: "no process",
    end: { code: null, signal: null, failure: "EACCES", lost: 0 },
    text: "it cannot be started: EACCES",
    fields: { reason: "EACCES" },
  },
];

for (const { what, end, text, fields } of cases)
  test(`the supervisor says how a worker with ${what} ended`, () => {
    assert.equal(endText({ ...end, lasted: 0 }), text);
    assert.deepEqual(endFields({ ...end, lasted: 0 }), fields);
  });

const stops: readonly (Pick<End, "code" | "signal"> & { readonly asked: boolean })[] = [
  { code: null, signal: "SIGTERM", asked: true },
  { code: null, signal: "SIGINT", asked: true },
  { code: 143, signal: null, asked: true },
  { code: null, signal: "SIGKILL", asked: false },
  { code: 1, signal: null, asked: false },
];

for (const { asked, ...end } of stops)
  test(`at a stop, the end of a worker with ${end.signal ?? end.code} is ${asked ? "no" : "a"} failure`, () => {
    assert.equal(isEndedByStop({ ...end, lasted: 0, lost: 0 }), asked);
  });
