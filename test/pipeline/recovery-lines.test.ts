import assert from "node:assert/strict";
import { rm, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { ChannelProcessor } from "../../core/pipeline/channel-processor.js";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { DeadLetters } from "../../core/pipeline/dead-letters/dead-letters.js";
import { Ledger } from "../../core/pipeline/ledger.js";
import { Receiver } from "../../core/pipeline/receiver.js";
import { FailureLog } from "../../core/sdk/failure-log.js";
import { AgentError, type Event } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { chainTo, deliver, feedOf } from "../support/delivering.js";
import { type LogLine, recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

/** The lines that an operator sees. */
function seen(lines: readonly LogLine[]): readonly string[] {
  return lines.filter(({ level }) => level !== "debug").map(({ level, message }) => `${level} ${message}`);
}

const events = (...bodies: readonly number[]): Event[] => bodies.map((body) => ({ headers: {}, body }));

test("of a failure that lasts each new cause is logged once, then the recovery with the number of failures", () => {
  const { log, lines } = recordingLog();
  const failures = new FailureLog(log, "works again");
  const line = { message: "does not work", fields: { name: "x" } };

  failures.works();
  for (const reason of ["a", "a", "b", "b", "a"]) failures.failed("warn", new Error(reason), line);
  failures.works({ name: "x" });
  failures.works();
  failures.failed("error", new Error("a"), line);

  assert.deepEqual(
    lines.map(({ level, fields, message }) => [level, message, fields]),
    [
      ["warn", "does not work", { name: "x", reason: "a" }],
      ["warn", "does not work", { name: "x", reason: "b" }],
      ["info", "works again", { name: "x", failures: 5 }],
      ["error", "does not work", { name: "x", reason: "a" }],
    ],
  );
});

test("a ledger that cannot be written is tried again without a further event, and its recovery is logged", async (context) => {
  const folder = path.join(await tempFolder(context), "data");
  const { log, lines } = recordingLog();
  const ledger = new Ledger(path.join(folder, "ledger.json"), log);
  await writeFile(folder, "a file in the place of the folder");
  const account = ledger.account("c");
  account.open(0);

  account.accepted(1);
  await until(async () => lines.length > 0, Boolean);
  await unlink(folder);
  await until(async () => lines.length > 1, Boolean);
  await ledger.stop();

  assert.deepEqual(seen(lines), ["error ledger not written", "info ledger is written again"]);
});

test("an optional channel that is left out for a time is logged twice, whatever it missed", async () => {
  const { log, lines } = recordingLog();
  const made = (name: string) => {
    const parts = { name, log: recordingLog().log, dataDir: "unused", run: "run", now: () => new Date(0) };
    return new CountedChannel(new MemoryChannel({ capacity: 1, transactionCapacity: 1, "keep-alive": 0 }, parts));
  };
  const channel = made("b");
  const selector = { select: () => ({ required: [], optional: ["b"] }) };
  const processor = new ChannelProcessor({ interceptors: [], selector, channels: new Map([["b", channel]]), log });

  for (const body of [1, 2, 3, 4]) await processor.emit(events(body));
  const take = channel.openTake();
  await take.take(1, AbortSignal.abort());
  await take.commit();
  await processor.emit(events(5));

  assert.deepEqual(seen(lines), ["warn optional channel left out", "info optional channel takes events again"]);
});

test("that requests are accepted again is logged once, when none was refused for ten seconds", async () => {
  const { log, lines } = recordingLog();
  let now = 0;
  let isFull = true;
  const receiver = new Receiver({
    name: "s",
    handler: { decode: () => ({ events: events(1), service: "a", servicePath: "/" }) },
    emit: async () => {
      if (isFull) throw new AgentError("CHANNEL_FULL", "no room", { retryable: true });
    },
    observer: { received: () => {}, refused: () => {} },
    log,
    now: () => new Date(now),
  });
  const request = () => ({ method: "POST", path: "/", headers: {}, body: Buffer.from(""), receivedAt: new Date(now) });
  const receive = async (full: boolean, passed: number) => {
    isFull = full;
    now += passed;
    await receiver.receive(request());
  };

  await receive(false, 0);
  await receive(true, 1);
  for (let times = 0; times < 5; times += 1) {
    await receive(false, 5000);
    await receive(true, 4000);
  }
  await receive(false, 9999);
  const before = seen(lines).filter((line) => line.startsWith("info"));
  await receive(false, 1);
  await receive(false, 60_000);
  receiver.stop();

  assert.deepEqual(before, []);
  assert.deepEqual(
    lines.filter(({ level }) => level === "info").map(({ fields, message }) => [fields, message]),
    [[{ refused: 6 }, "requests are accepted again"]],
  );
});

test("dead letters that cannot be written are logged once for each cause, and when they are written again", async (context) => {
  const folder = path.join(await tempFolder(context), "dead-letters");
  await writeFile(folder, "a file in the place of the folder");
  const { log, lines } = recordingLog();
  const sink = new ScriptedSink(() => new AgentError("DATA_REFUSED", "bad", { retryable: false }));
  const retry = { batchTtl: 3, batchRetryIntervals: [1] };
  const { chain } = chainTo({ sink, deadLetters: new DeadLetters(folder), retry, log });

  const delivered = deliver(chain, events(1));
  await until(async () => seen(lines).length > 0, Boolean);
  await unlink(folder);
  await delivered;

  const about = seen(lines).filter((line) => line.includes("dead letters "));
  assert.deepEqual(
    [about[0], about.at(-1)],
    ["error dead letters not written, will be retried", "info dead letters are written again"],
  );
  await rm(folder, { recursive: true });
});

test("a channel that fails at taking is logged once, and when it works again", async (context) => {
  const { log, lines } = recordingLog();
  const parts = { name: "c1", log: recordingLog().log, dataDir: "unused", run: "run", now: () => new Date(0) };
  const memory = new MemoryChannel({ capacity: 9, transactionCapacity: 9, "keep-alive": 0 }, parts);
  let failures = 3;
  const openTake = memory.openTake.bind(memory);
  memory.openTake = () => {
    failures -= 1;
    if (failures >= 0) throw new Error("disk is away");
    return openTake();
  };
  const { feed } = feedOf({
    channel: memory,
    sink: new ScriptedSink(),
    retry: { batchTtl: -1, batchRetryIntervals: [1] },
    deadLetters: new DeadLetters(await tempFolder(context)),
    batching: { batchSize: 1, batchTimeout: 30 },
    log,
  });

  feed.start();
  await until(async () => failures < 0, Boolean);
  await feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(seen(lines), ["error channel failed, going on", "info channel works again"]);
});
