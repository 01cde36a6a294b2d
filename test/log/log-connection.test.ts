import assert from "node:assert/strict";
import { test } from "node:test";
import { queryObjects } from "node:v8";
import type { PartitionedLog } from "../../core/log/index.js";
import { AgentError, type Channel } from "../../core/sdk/index.js";
import { put, take } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { latch } from "../support/latch.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { linesOf, newLogChannel, openLogChannel } from "./opened-channel.js";

const away = () => new AgentError("LOG_UNAVAILABLE", "the log is away", { retryable: true });

/** A log in a folder of which the test changes members. */
function changedLog(folder: string, change: (log: PartitionedLog) => Partial<PartitionedLog>): PartitionedLog {
  const log = directoryLog({ folder, partitions: 1 });
  const changed = change(log);
  return new Proxy(log, {
    get: (target, name) => {
      const member: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("a log that takes appends again is not said to be away, although nobody puts into it meanwhile", async (context) => {
  const folder = await tempFolder(context);
  let isAway = false;
  const engine = () =>
    changedLog(folder, (log) => ({
      append: async (part, value) => {
        if (isAway) throw away();
        return await log.append(part, value);
      },
    }));
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));

  isAway = true;
  await assert.rejects(put(channel, 1));
  assert.equal(channel.log?.()?.unreachable, "the log is away");
  isAway = false;

  await until(
    async () => channel.log?.()?.unreachable,
    (reason) => reason === undefined,
  );
});

test("an agent whose reports are larger than a record of the log says so", async (context) => {
  const folder = await tempFolder(context);
  const reason = "appending a record: it has 1200000 bytes, and the servers take 1048576; raise their max_payload";
  const engine = () =>
    changedLog(folder, (log) => ({
      append: async (part, value) => {
        if (part === "agents") throw new AgentError("RECORD_TOO_LARGE", reason, { retryable: false });
        return await log.append(part, value);
      },
    }));
  const channel = await openLogChannel({ folder, engine, takes: false });
  context.after(() => channel.stop(AbortSignal.abort()));

  await until(
    async () => channel.log?.()?.unreachable,
    (told) => told === reason,
  );
  assert.equal(linesOf(channel).filter((line) => Reflect.get(line.fields, "reason") === reason).length, 1);
});

/** Stores an event with the channel, and returns the position behind it. */
async function storedPosition(folder: string): Promise<string> {
  const channel = await openLogChannel({ folder });
  await put(channel, 1);
  const { transaction } = await take(channel, 1);
  const position = transaction.positions?.after(1) ?? "";
  await transaction.rollback();
  await channel.stop(AbortSignal.abort());
  return position;
}

test("what a stored position says of dead letters is in the books of the agent that goes on behind it", async (context) => {
  const folder = await tempFolder(context);
  const first = await openLogChannel({ folder });
  await put(first, 1);
  const { transaction } = await take(first, 1);
  const position = transaction.positions?.after(1, () => "deadLettered") ?? "";
  await first.stop(AbortSignal.abort());
  const next = await openLogChannel({ folder });
  context.after(() => next.stop(AbortSignal.abort()));

  await next.skipTo?.(position);

  const books = await until(
    async () => next.log?.(),
    (log) => (log?.stored ?? 0) + (log?.deadLettered ?? 0) === 1,
  );
  assert.deepEqual([books?.stored, books?.deadLettered], [0, 1]);
});

async function assertLeftOut(channel: Channel): Promise<void> {
  await until(
    async () => channel.log?.(),
    (log) => log !== undefined,
  );
  await put(channel, 2);
  const { transaction, bodies } = await take(channel, 2);
  await transaction.commit();
  assert.deepEqual(bodies, [2]);
}

test("a stored position that a sink gives while the log is being opened is kept", async (context) => {
  const folder = await tempFolder(context);
  const position = await storedPosition(folder);
  let opens = 0;
  let channel: Channel | undefined;
  const engine = () =>
    changedLog(folder, (log) => ({
      open: async (signal) => {
        opens += 1;
        if (opens === 1) throw away();
        return await log.open(signal);
      },
      bounds: async (parts) => {
        if (parts.includes("agents")) await channel?.skipTo?.(position);
        return await log.bounds(parts);
      },
    }));
  channel = await openLogChannel({ folder, engine, takes: false });
  context.after(() => channel?.stop(AbortSignal.abort()));

  await assertLeftOut(channel);
});

test("a stored position that a sink gives before the log is open is kept when the first try to open it fails halfway", async (context) => {
  const folder = await tempFolder(context);
  const position = await storedPosition(folder);
  let opens = 0;
  let measured = 0;
  const engine = () =>
    changedLog(folder, (log) => ({
      open: async (signal) => {
        opens += 1;
        if (opens === 1) throw away();
        return await log.open(signal);
      },
      bounds: async (parts) => {
        measured += 1;
        if (measured === 1) throw away();
        return await log.bounds(parts);
      },
    }));
  const channel = await openLogChannel({ folder, engine, takes: false });
  context.after(() => channel.stop(AbortSignal.abort()));
  await channel.skipTo?.(position);

  await assertLeftOut(channel);
});

test("puts that are refused while the log was never open leave nothing behind", async (context) => {
  const folder = await tempFolder(context);
  const engine = () => changedLog(folder, () => ({ open: () => Promise.reject(away()) }));
  const channel = await openLogChannel({ folder, engine, takes: false });
  context.after(() => channel.stop(AbortSignal.abort()));

  const refuse = async (count: number) => {
    for (let body = 0; body < count; body += 1) await assert.rejects(put(channel, body));
    // It counts what a garbage collection leaves.
    return Number(queryObjects(AbortController, { format: "count" }));
  };
  const before = await refuse(10);
  const grown = (await refuse(1000)) - before;
  assert.ok(grown < 100, `${grown} more for 1000 puts`);
});

for (const call of ["open", "bounds"] as const)
  test(`a channel that is stopped while its log answers its start leaves nothing at work (${call})`, async (context) => {
    const folder = await tempFolder(context);
    const { opened: asked, open: ask } = latch();
    const { opened: answered, open: answer } = latch();
    const late = async (asking: string) => {
      if (asking !== call) return;
      ask();
      await answered;
    };
    let isOpen = false;
    const engine = () =>
      changedLog(folder, (log) => ({
        open: async (signal) => {
          await late("open");
          isOpen = true;
          return await log.open(signal);
        },
        bounds: async (parts) => {
          await late("bounds");
          return await log.bounds(parts);
        },
        close: async (signal) => {
          isOpen = false;
          await log.close(signal);
        },
      }));
    const channel = newLogChannel({ folder, engine });

    const starting = channel.start();
    await asked;
    await channel.stop(AbortSignal.abort());
    answer();

    await assert.rejects(starting, { code: "CHANNEL_STOPPED" });
    assert.deepEqual([channel.log?.(), isOpen], [undefined, false]);
  });

test("a stop does not wait for an engine that answers nothing any more", { timeout: 60_000 }, async (context) => {
  const folder = await tempFolder(context);
  let isFrozen = false;
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const engine = () =>
    changedLog(folder, (log) => ({
      append: async (part, value) => {
        if (isFrozen) await closed;
        return await log.append(part, value);
      },
      close: async (signal) => {
        close();
        await log.close(signal);
      },
    }));
  const channel = await openLogChannel({ folder, engine });

  isFrozen = true;
  await channel.stop(new AbortController().signal);
});
