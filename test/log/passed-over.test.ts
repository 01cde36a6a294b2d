import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PartitionedLog } from "../../core/log/index.js";
import { atBeginning } from "../../core/log/log-position.js";
import { PartQueue } from "../../core/log/part-queue.js";
import { PassedOver } from "../../core/log/passed-over.js";
import { AgentError, type Channel, codeOf } from "../../core/sdk/index.js";
import { collect, put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { linesOf, openLogChannel } from "./opened-channel.js";
import { oneEvent } from "./own-part.js";

/**
 * An engine whose offsets may jump and which says of a part that it begins with its newest record. Its first reads of several
 * records, `times` of them, find the newest one alone.
 */
function passingOver(folder: string, times: number): PartitionedLog {
  const log = directoryLog({ folder, partitions: 1 });
  let left = times;
  return {
    open: async (signal) => ({ ...(await log.open(signal)), gapless: false }),
    append: (part, value) => log.append(part, value),
    read: async (from, limits, signal) => {
      const found = await log.read(from, limits, signal);
      const records = found.get(0) ?? [];
      if (left === 0 || records.length < 2) return found;
      left -= 1;
      return new Map(found).set(0, records.slice(-1));
    },
    bounds: async (parts) => {
      const bounds = new Map(await log.bounds(parts));
      const { next = 0 } = bounds.get(0) ?? {};
      return parts.includes(0) && next > 0 ? bounds.set(0, { first: next - 1, next }) : bounds;
    },
    trim: (before) => log.trim(before),
    close: (signal) => log.close(signal),
  };
}

/** Five events in a record each, of one writer; the name of the log. */
async function filled(folder: string): Promise<string> {
  const channel = await openLogChannel({ folder });
  for (const body of [1, 2, 3, 4, 5]) await put(channel, body);
  const { id } = channel.log?.() ?? { id: "" };
  await channel.stop(AbortSignal.timeout(1000));
  return id;
}

async function opened(context: TestContext, folder: string, times: number): Promise<Channel> {
  const engine = () => passingOver(folder, times);
  const channel = await openLogChannel({ folder, engine, takes: false });
  context.after(() => channel.stop(AbortSignal.abort()));
  return channel;
}

/** More than is read ahead of a part: what comes behind it is not in memory. */
const LARGE = "x".repeat(40_000);

async function putLarge(channel: Channel): Promise<void> {
  const large = channel.openPut();
  large.put({ headers: {}, body: LARGE });
  await large.commit();
}

async function takenLarge(channel: Channel): Promise<unknown> {
  const taken = channel.openTake();
  const [large] = await taken.take(1, new AbortController().signal);
  await taken.commit();
  return large?.body;
}

const errors = (channel: Channel) =>
  linesOf(channel).flatMap(({ level, fields, message }) =>
    level === "error" ? [[fields, message.split(":", 1)[0]]] : [],
  );

test("an agent whose log says that a part begins later than it does stores all of it", async (context) => {
  const folder = await tempFolder(context);
  await filled(folder);
  const channel = await opened(context, folder, 0);

  const { bodies } = await collect(channel, 5);

  assert.deepEqual([bodies, linesOf(channel).every(({ level }) => level === "info")], [[1, 2, 3, 4, 5], true]);
});

test("an agent that has passed over records of a part reads it again, and stores all of it", async (context) => {
  const folder = await tempFolder(context);
  const id = await filled(folder);
  const channel = await opened(context, folder, 2);

  await channel.skipTo?.(`${id}/g/0:0+0:1,1,0,0`);
  const { bodies } = await collect(channel, 4);

  assert.deepEqual([bodies, channel.lost, errors(channel)], [[2, 3, 4, 5], 0, []]);
});

test("so does one that begins with a part of which nothing is stored", async (context) => {
  const folder = await tempFolder(context);
  await filled(folder);
  const channel = await opened(context, folder, 1);

  const { bodies } = await collect(channel, 5);

  assert.deepEqual([bodies, channel.lost, errors(channel)], [[1, 2, 3, 4, 5], 0, []]);
});

test("what a part of which nothing is stored lacks is looked for during a session, too, and nothing is said of it", () => {
  const { log, lines } = recordingLog();
  const place = { now: 0 };
  const clocks = { now: () => new Date(0), steady: () => place.now };
  const passedOver = new PassedOver({ clocks, sessionMillis: 1000, hasTaken: () => true, logger: log });
  const look = (now: number) => {
    place.now = now;
    const queue = new PartQueue(0, atBeginning, 0);
    return passedOver.look(queue, { from: 0, records: [oneEvent(4), { ...oneEvent(9), follows: 5 }] });
  };

  assert.deepEqual(
    [look(0), look(1), look(250), look(260), look(999), look(1000)],
    ["wait", "wait", "wait", "wait", "wait", "add"],
  );
  assert.deepEqual(lines, []);
});

test("a record that stays away for a session is lost, and what is behind it is stored", async (context) => {
  const folder = await tempFolder(context);
  const id = await filled(folder);
  await directoryLog({ folder, partitions: 1 }).trim(new Map([[0, 4]]));
  const channel = await opened(context, folder, 0);

  await channel.skipTo?.(`${id}/g/0:0+0:1,1,0,0`);
  const { bodies } = await collect(channel, 1);
  await until(
    async () => channel.lost,
    (lost) => lost === 1,
  );

  assert.deepEqual(bodies, [5]);
  assert.deepEqual(errors(channel), [
    [{ partition: 0 }, "the last stored record of a partition is gone, which the agents keep"],
    [{ partition: 0, lost: 1 }, "records of the log are missing"],
  ]);
});

test("a record that is gone from between two others holds up what is behind it for a session, and no longer", async (context) => {
  const folder = await tempFolder(context);
  const id = await filled(folder);
  const engine = () => {
    const log = passingOver(folder, 0);
    const read: PartitionedLog["read"] = async (from, limits, signal) => {
      const found = await log.read(from, limits, signal);
      const records = found.get(0)?.filter(({ offset }) => offset !== 2) ?? [];
      return records.length === 0 ? found : new Map(found).set(0, records);
    };
    return { ...log, read };
  };
  const channel = await openLogChannel({ folder, engine, takes: false });
  context.after(() => channel.stop(AbortSignal.abort()));
  await channel.skipTo?.(`${id}/g/0:0+0:1,1,0,0`);

  const { bodies } = await collect(channel, 3);
  await until(
    async () => channel.lost,
    (lost) => lost === 1,
  );

  assert.deepEqual(bodies, [2, 4, 5]);
});

test("records before those that a new group begins with are not lost, nor is anything said of them", async (context) => {
  const folder = await tempFolder(context);
  await filled(folder);
  await directoryLog({ folder, partitions: 1 }).trim(new Map([[0, 4]]));
  const channel = await opened(context, folder, 0);

  const { bodies } = await collect(channel, 1);

  assert.deepEqual([bodies, channel.lost], [[5], 0]);
  assert.ok(linesOf(channel).every(({ level }) => level === "info"));
});

test("what follows a record that was passed over waits for a session, and then that record is gone", () => {
  const { log, lines } = recordingLog();
  const place = { now: 0 };
  const clocks = { now: () => new Date(0), steady: () => place.now };
  const passedOver = new PassedOver({ clocks, sessionMillis: 1000, hasTaken: () => true, logger: log });
  const look = (now: number, offset = 9, follows = 5) => {
    place.now = now;
    const queue = new PartQueue(0, { ...atBeginning, offset: 3, index: 0, events: 1 }, 0);
    // Another one comes before the record that shows the gap.
    return passedOver.look(queue, { from: 4, records: [oneEvent(4), { ...oneEvent(offset), follows }] });
  };

  const looks = [look(0), look(100), look(999, 9, 7), look(1000)];
  const later = [look(5000, 19, 3), look(5000, 19, 12), look(5001, 19, 12)];

  assert.deepEqual(looks, ["wait", "wait", "wait", "add"]);
  assert.deepEqual(later, ["add", "wait", "wait"]);
  assert.deepEqual(
    lines.map(({ fields }) => fields),
    [
      { partition: 0, offset: 5 },
      { partition: 0, offset: 12 },
    ],
  );
});

test("a record that was passed over is read in its place, and what waits before it stays", () => {
  const clocks = { now: () => new Date(0), steady: () => 0 };
  const { log: logger } = recordingLog();
  const passedOver = new PassedOver({ clocks, sessionMillis: 1000, hasTaken: () => true, logger });
  const queue = new PartQueue(0, { ...atBeginning, offset: 3, index: 0, events: 1 }, 0);
  queue.add({ from: 3, records: [oneEvent(5), oneEvent(8)] });

  const look = passedOver.look(queue, { from: 9, records: [{ ...oneEvent(9), follows: 7 }] });
  const [next, waiting] = [queue.next, queue.waiting];
  queue.add({ from: next, records: [7, 8, 9].map(oneEvent) });

  assert.deepEqual([look, next, waiting], ["wait", 7, 1]);
  assert.deepEqual(
    queue.take(9).map(({ offset }) => offset),
    [5, 7, 8, 9],
  );
  assert.equal(queue.bytes, 40);
});

test("events that were removed behind what an agent has read are counted, and what it has read is stored", async (context) => {
  const folder = await tempFolder(context);
  const channel = await openLogChannel({ folder, engine: () => passingOver(folder, 0), config: { prefetch_bytes: 1 } });
  context.after(() => channel.stop(AbortSignal.abort()));
  await put(channel, 1);
  for (const taken of (await collect(channel, 1)).transactions) await taken.commit();
  await putLarge(channel);
  for (const bodies of [[2], [3], [4, 5], [6]]) await put(channel, ...bodies);

  await directoryLog({ folder, partitions: 1 }).trim(new Map([[0, 5]]));
  const large = await takenLarge(channel);
  const { bodies } = await collect(channel, 1);
  await until(
    async () => channel.lost,
    (lost) => lost === 4,
  );

  assert.deepEqual([large, bodies], [LARGE, [6]]);
});

test("events that were removed before a put that was refused without being sent are counted", async (context) => {
  const folder = await tempFolder(context);
  let refuses = false;
  const engine = () => {
    const log = passingOver(folder, 0);
    const append: PartitionedLog["append"] = async (part, value) => {
      if (part !== 0 || !refuses) return await log.append(part, value);
      const refused = new AgentError("LOG_SETTINGS", "it removes events", { retryable: false });
      throw Object.assign(refused, { appended: false });
    };
    return { ...log, append };
  };
  const channel = await openLogChannel({ folder, engine, config: { prefetch_bytes: 1 } });
  context.after(() => channel.stop(AbortSignal.abort()));
  await put(channel, 1);
  for (const taken of (await collect(channel, 1)).transactions) await taken.commit();
  await putLarge(channel);
  await put(channel, 2);

  await directoryLog({ folder, partitions: 1 }).trim(new Map([[0, 3]]));
  refuses = true;
  const refusal = await put(channel, 3).catch(codeOf);
  refuses = false;
  await put(channel, 4);
  await takenLarge(channel);
  const { bodies } = await collect(channel, 1);
  await until(
    async () => channel.lost,
    (lost) => lost === 1,
  );

  assert.deepEqual([refusal, bodies], ["LOG_SETTINGS", [4]]);
});
