import assert from "node:assert/strict";
import { test } from "node:test";
import { put, upTo } from "../../../../core/testing/channel-fixture.js";
import { type OpenFile, openNewFile } from "../../../../plugins/file-channel/log/files.js";
import { GroupCommitDelay } from "../../../../plugins/file-channel/log/group-commit-delay.js";
import { tempFolder } from "../../../support/temp-folder.js";
import { openIn } from "../channel-folder.js";

const stopped = () => 0;

/** A delay whose last write had 100 puts, and how many of the next have come; another one comes in each turn. */
async function afterMany(most: number, now: () => number) {
  const puts = { waiting: 100 };
  const delay = new GroupCommitDelay(() => puts.waiting, now);
  await delay.elapsed();
  puts.waiting = 1;
  const more = () => {
    if (puts.waiting === most) return;
    puts.waiting += 1;
    setImmediate(more);
  };
  setImmediate(more);
  return { delay, puts };
}

test("what comes in later turns of the event loop is waited for, until one brings nothing", async () => {
  const { delay, puts } = await afterMany(4, stopped);

  await delay.elapsed();

  assert.equal(puts.waiting, 4);
});

test("what never ends to come is waited for for 5 milliseconds", async () => {
  let now = 0;
  const { delay, puts } = await afterMany(100, () => now++);

  await delay.elapsed();

  assert.equal(puts.waiting, 5);
});

test("half of the senders are enough, those of the write before counted", async () => {
  const { delay, puts } = await afterMany(100, stopped);

  await delay.elapsed();

  assert.equal(puts.waiting, 51);
});

test("a sender that is alone does not wait", async () => {
  const delay = new GroupCommitDelay(() => 1, stopped);
  let turns = 0;
  const turn = setImmediate(() => {
    turns += 1;
  });

  await delay.elapsed();
  await delay.elapsed();
  clearImmediate(turn);

  assert.equal(turns, 0);
});

test("of puts that come one after the other, the first is not written alone", async (context) => {
  const lengths: number[] = [];
  const noting: OpenFile = async (file) => {
    const opened = await openNewFile(file);
    return {
      write: (bytes, offset, length, position) => {
        lengths.push(length);
        return opened.write(bytes, offset, length, position);
      },
      datasync: () => opened.datasync(),
      truncate: (length) => opened.truncate(length),
      close: () => opened.close(),
    };
  };
  const { channel } = await openIn(await tempFolder(context), {}, noting);

  await Promise.all(upTo(8).map((number) => put(channel, number)));
  const later: Promise<void>[] = [];
  for (const number of upTo(8)) {
    later.push(put(channel, number));
    await new Promise(setImmediate);
  }
  await Promise.all(later);
  await channel.stop();

  const [, together = 0, next = 0] = lengths; // Behind the head of the segment.
  assert.ok(next >= (together * 2) / 8, `${next} bytes in the write after one of 8 puts and ${together} bytes`);
});
