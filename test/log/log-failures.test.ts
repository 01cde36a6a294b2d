import assert from "node:assert/strict";
import { test } from "node:test";
import { LogHealth } from "../../core/log/log-health.js";
import { AgentError, type HealthReport } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

const SESSION = 10_000;
const refused = (what: string) => new AgentError("LOG_DENIED", `${what}: refused`, { retryable: false });

function newHealth() {
  const { log, lines } = recordingLog();
  const reports: HealthReport[] = [];
  const clock = { millis: 0 };
  const health = new LogHealth({
    context: { log, now: () => new Date(clock.millis), report: (report) => void reports.push(report) },
    clocks: { steady: () => clock.millis },
    sessionMillis: SESSION,
    stopping: new AbortController().signal,
  });
  return { health, reports, clock, lines };
}

test("an append that failed a session ago counts no more where the log takes reports: an agent that is not ready gets no puts", () => {
  const { health, reports, clock, lines } = newHealth();

  health.outcome("append", refused("appending"));
  clock.millis = SESSION - 1;
  health.outcome("report");
  const before = health.failure?.reason;
  clock.millis = SESSION;
  health.outcome("report");

  assert.equal(before, "appending: refused");
  assert.equal(health.failure, undefined);
  assert.deepEqual(reports, [{ state: "down", reason: "appending: refused", lasting: true }, { state: "up" }]);
  assert.deepEqual(
    lines.map(({ message }) => message),
    ["the log cannot be used now; it will be tried again", "the log can be reached again"],
  );
});

test("an append that fails again and again counts, whatever else works", () => {
  const { health, clock } = newHealth();

  for (let seconds = 0; seconds < 200; seconds += 1) {
    clock.millis = seconds * 1000;
    health.outcome("append", refused("appending"));
    health.outcome("report");
  }

  assert.deepEqual(health.failure, { reason: "appending: refused", since: 0 });
});

test("what still fails is reported once the last that failed works", () => {
  const { health, reports } = newHealth();

  health.outcome("append", refused("appending"));
  health.outcome("report", refused("reporting"));
  health.outcome("report");
  const left = health.failure?.reason;
  health.outcome("append");

  assert.equal(left, "appending: refused");
  assert.deepEqual(reports.at(-1), { state: "up" });
  assert.equal(health.failure, undefined);
});

test("an agent that may not remove what is stored still does its work", () => {
  const { health, reports } = newHealth();

  health.outcome("append", refused("appending"));
  health.outcome("trim", refused("trimming"));
  const both = health.failure?.reason;
  health.outcome("append");
  const one = health.failure;
  health.outcome("trim");

  assert.deepEqual([both, one], ["appending: refused", undefined]);
  assert.deepEqual(reports.slice(-2), [
    { state: "degraded", reason: "trimming: refused", lasting: true },
    { state: "up" },
  ]);
});

test("a part that takes no appends while others do is degraded and one cause to log, and all that take none are down", () => {
  const { health, reports, clock, lines } = newHealth();
  const appends = (...parts: readonly number[]) => {
    for (const part of parts) health.outcome("append", part === 1 ? refused("appending") : undefined, part);
  };

  appends(1);
  const first = health.failure?.reason;
  for (let seconds = 1; seconds < 200; seconds += 1) {
    clock.millis = seconds * 1000;
    appends(0, 1, 2);
    health.outcome("report");
  }
  const partly = health.failure;
  health.outcome("append", refused("all"), 0);
  const all = health.failure?.reason;
  health.outcome("append", undefined, 0);
  health.outcome("append", undefined, 1);

  assert.deepEqual([first, partly, all, health.failure], ["appending: refused", undefined, "all: refused", undefined]);
  assert.deepEqual(
    new Set(reports.map(({ state, reason }) => `${state} ${reason}`)),
    new Set(["down appending: refused", "degraded appending: refused", "down all: refused", "up undefined"]),
  );
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, Reflect.get(fields, "reason")]),
    [
      ["error", "appending: refused"],
      ["error", "all: refused"],
      ["info", undefined],
    ],
  );
});
