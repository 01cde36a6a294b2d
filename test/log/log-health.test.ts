import assert from "node:assert/strict";
import { test } from "node:test";
import { LogHealth } from "../../core/log/log-health.js";
import { AgentError, type HealthReport } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

test("a log that will never take a put reports that it lasts; one that is away does not", () => {
  const reports: HealthReport[] = [];
  const health = new LogHealth({
    context: { log: recordingLog().log, now: () => new Date(0), report: (one) => reports.push(one) },
    clocks: { steady: () => 0 },
    sessionMillis: 1000,
    stopping: new AbortController().signal,
  });

  health.outcome("append", new AgentError("LOG_UNAVAILABLE", "nobody answers", { retryable: true }));
  health.outcome("append", new AgentError("LOG_SETTINGS", "it removes what is older", { retryable: false }));
  health.outcome("append");

  assert.deepEqual(reports, [
    { state: "down", reason: "nobody answers" },
    { state: "down", reason: "it removes what is older", lasting: true },
    { state: "up" },
  ]);
});
