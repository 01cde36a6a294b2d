import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PartitionedLog } from "../../core/log/index.js";
import { atBeginning } from "../../core/log/log-position.js";
import { PartQueue } from "../../core/log/part-queue.js";
import { PassedOver } from "../../core/log/passed-over.js";
import type { Channel } from "../../core/sdk/index.js";
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
  assert.deepEqual(errors(channel), [[{ partition: 0, lost: 1 }, "records of the log are missing"]]);
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

test("a part is begun with again at once, then now and then, and what was passed over is gone after a session", () => {
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

  const looks = [look(0), look(100), look(250), look(260), look(999, 9, 7), look(1000)];
  const later = [look(5000, 19, 3), look(5000, 19, 12), look(5001, 19, 12)];

  assert.deepEqual(looks, ["again", "wait", "again", "wait", "again", "add"]);
  assert.deepEqual(later, ["add", "again", "wait"]);
  assert.deepEqual(
    lines.map(({ fields }) => fields),
    [
      { partition: 0, offset: 5 },
      { partition: 0, offset: 12 },
    ],
  );
});
