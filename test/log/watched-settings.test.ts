import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogSettings } from "../../core/log/index.js";
import { WatchedSettings } from "../../core/log/watched-settings.js";
import { AgentError, codeOf } from "../../core/sdk/index.js";
import { put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { openLogChannel } from "./opened-channel.js";

const opened = { id: "x", partitions: 1, largestRecord: 1000, warnings: ["one replica"] };

function watched(answers: readonly LogSettings[]) {
  const { log, lines } = recordingLog();
  const left = [...answers];
  const settings = async () => left.shift() ?? opened;
  const own = new WatchedSettings({
    log: { settings },
    facts: opened,
    everyMillis: 1000,
    outcome: () => {},
    logger: log,
  });
  return { own, lines };
}

test("a warning about a log is logged when it comes, not again while it stays, and when it is gone", async () => {
  const more = { largestRecord: 1000, warnings: ["one replica", "events go after an hour"] };
  const { own, lines } = watched([opened, more, more, { largestRecord: 1000, warnings: ["one replica"] }]);

  for (let look = 0; look < 4; look += 1) await own.look();

  assert.deepEqual(lines, [
    { level: "warn", fields: { log: "x" }, message: "events go after an hour" },
    {
      level: "info",
      fields: { log: "x", warning: "events go after an hour" },
      message: "a warning about the log is gone",
    },
  ]);
});

/** A log in a folder whose settings somebody changes. */
function changing(folder: string) {
  const log = directoryLog({ folder, partitions: 1 });
  const now: { largestRecord: number; fault: AgentError | undefined; looks: number } = {
    largestRecord: 1_000_000,
    fault: undefined,
    looks: 0,
  };
  const engine = () => ({
    open: (signal: AbortSignal) => log.open(signal),
    settings: async () => {
      now.looks += 1;
      if (now.fault !== undefined) throw now.fault;
      return { largestRecord: now.largestRecord, warnings: [] };
    },
    append: log.append.bind(log),
    read: log.read.bind(log),
    bounds: log.bounds.bind(log),
    trim: log.trim.bind(log),
    close: log.close.bind(log),
  });
  return { now, engine };
}

test("a log that takes smaller records than at the start refuses larger events, and takes them when it does again", async (context) => {
  const folder = await tempFolder(context);
  const { now, engine } = changing(folder);
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));
  const outcome = async () =>
    await put(channel, 1).then(
      () => "stored",
      (error: unknown) => codeOf(error),
    );

  const before = await outcome();
  now.largestRecord = 257;
  await until(outcome, (code) => code === "NOTIFICATION_TOO_LARGE");
  now.largestRecord = 1_000_000;
  await until(outcome, (code) => code === "stored");

  assert.equal(before, "stored");
});

test("a log whose settings are no good any more is said to be unusable with the reason, until they are again", async (context) => {
  const folder = await tempFolder(context);
  const { now, engine } = changing(folder);
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));
  const unreachable = async () => channel.log?.()?.unreachable;

  now.fault = new AgentError("LOG_SETTINGS", "keeping the log: it removes what is older", { retryable: false });
  await until(unreachable, (reason) => reason === "keeping the log: it removes what is older");
  now.fault = undefined;

  await until(unreachable, (reason) => reason === undefined);
});

test("a log that does not say its settings is used all the same", async (context) => {
  const folder = await tempFolder(context);
  const { now, engine } = changing(folder);
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));
  now.fault = new AgentError("LOG_UNAVAILABLE", "nobody answers", { retryable: true });
  const before = now.looks;
  await until(
    async () => now.looks,
    (looks) => looks > before + 1,
  );

  await put(channel, 1);

  assert.equal(channel.log?.()?.unreachable, undefined);
});
