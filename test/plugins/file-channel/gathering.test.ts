import assert from "node:assert/strict";
import { test } from "node:test";
import { put, upTo } from "../../../core/testing/channel-fixture.js";
import { type OpenFile, openNewFile } from "../../../plugins/file-channel/files.js";
import { Gathering } from "../../../plugins/file-channel/gathering.js";
import { tempFolder } from "../../support/temp-folder.js";
import { openIn } from "./channel-folder.js";

/** A gathering whose last write had 100 puts, so that half of all is never reached. */
async function afterMany(count: () => number): Promise<Gathering> {
  let asked = false;
  const gathering = new Gathering(() => {
    if (asked) return count();
    return 100;
  });
  await gathering.enough();
  asked = true;
  return gathering;
}

test("what comes in later turns of the event loop is waited for, until one brings nothing", async () => {
  let count = 1;
  const more = () => {
    count += 1;
    if (count < 4) setImmediate(more);
  };
  const gathering = await afterMany(() => count);
  setImmediate(more);

  await gathering.enough();

  assert.equal(count, 4);
});

test("what never ends to come is not waited for for ever", async () => {
  let count = 0;
  const gathering = await afterMany(() => {
    count += 0.0001;
    return count;
  });

  await gathering.enough();

  assert.ok(count < 50, "it ended before half of all had come");
});

test("half of the senders are enough, those of the write before counted", async () => {
  let count = 6;
  const gathering = new Gathering(() => count);
  await gathering.enough();
  count = 2;
  const more = () => {
    count += 1;
    if (count < 10) setImmediate(more);
  };
  setImmediate(more);

  await gathering.enough();

  assert.equal(count, 4);
});

test("a sender that is alone does not wait", async () => {
  const gathering = new Gathering(() => 1);
  let turns = 0;
  const turn = setImmediate(() => {
    turns += 1;
  });

  await gathering.enough();
  await gathering.enough();
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
  assert.ok(next >= (together * 4) / 8, `${next} bytes in the write after one of 8 puts and ${together} bytes`);
});
