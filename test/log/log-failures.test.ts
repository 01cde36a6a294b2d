import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LogConnection } from "../../core/log/log-connection.js";
import { AgentError, type HealthReport } from "../../core/sdk/index.js";
import { directoryLog } from "../support/directory-log.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { usualConfig } from "./opened-channel.js";

const SESSION = usualConfig.session_timeout * 1000;
const refused = (what: string) => new AgentError("LOG_DENIED", `${what}: refused`, { retryable: false });

async function newConnection(context: TestContext) {
  const { log: logger, lines } = recordingLog();
  const reports: HealthReport[] = [];
  const clock = { millis: 0 };
  const connection = new LogConnection({
    log: directoryLog({ folder: await tempFolder(context), partitions: 1 }),
    config: usualConfig,
    context: {
      name: "c1",
      log: logger,
      dataDir: "agent",
      run: "host,1,2026-01-01T00:00:00.000Z,1",
      now: () => new Date(clock.millis),
      lockFolder: () => Promise.reject(new Error("a log needs no folder")),
      report: (health) => void reports.push(health),
    },
    clocks: { now: () => new Date(clock.millis), steady: () => clock.millis },
  });
  return { connection, reports, clock, lines };
}

test("an append that failed a session ago counts no more where the log takes reports: an agent that is not ready gets no puts", async (context) => {
  const { connection, reports, clock, lines } = await newConnection(context);

  connection.outcome("append", refused("appending"));
  clock.millis = SESSION - 1;
  connection.outcome("report");
  const before = connection.failure?.reason;
  clock.millis = SESSION;
  connection.outcome("report");

  assert.equal(before, "appending: refused");
  assert.equal(connection.failure, undefined);
  assert.deepEqual(reports, [{ state: "down", reason: "appending: refused" }, { state: "up" }]);
  assert.deepEqual(
    lines.map(({ message }) => message),
    ["the log cannot be used now; it will be tried again", "the log can be reached again"],
  );
});

test("an append that fails again and again counts, whatever else works", async (context) => {
  const { connection, clock } = await newConnection(context);

  for (let seconds = 0; seconds < 200; seconds += 1) {
    clock.millis = seconds * 1000;
    connection.outcome("append", refused("appending"));
    connection.outcome("report");
  }

  assert.deepEqual(connection.failure, { reason: "appending: refused", since: 0 });
});

test("what still fails is reported once the last that failed works", async (context) => {
  const { connection, reports } = await newConnection(context);

  connection.outcome("append", refused("appending"));
  connection.outcome("report", refused("reporting"));
  connection.outcome("report");
  const left = connection.failure?.reason;
  connection.outcome("append");

  assert.equal(left, "appending: refused");
  assert.deepEqual(reports.at(-1), { state: "up" });
  assert.equal(connection.failure, undefined);
});

test("an agent that may not remove what is stored still does its work", async (context) => {
  const { connection, reports } = await newConnection(context);

  connection.outcome("append", refused("appending"));
  connection.outcome("trim", refused("trimming"));
  const both = connection.failure?.reason;
  connection.outcome("append");
  const one = connection.failure;
  connection.outcome("trim");

  assert.deepEqual([both, one], ["appending: refused", undefined]);
  assert.deepEqual(reports.slice(-2), [{ state: "degraded", reason: "trimming: refused" }, { state: "up" }]);
});
