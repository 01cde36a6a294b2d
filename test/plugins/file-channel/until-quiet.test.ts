import assert from "node:assert/strict";
import { test } from "node:test";
import { put, upTo } from "../../../core/testing/channel-fixture.js";
import { type OpenFile, openNewFile } from "../../../plugins/file-channel/files.js";
import { untilQuiet } from "../../../plugins/file-channel/until-quiet.js";
import { tempFolder } from "../../support/temp-folder.js";
import { openIn } from "./channel-folder.js";

test("what comes in later turns of the event loop is waited for, until one brings nothing", async () => {
  let count = 1;
  const more = () => {
    count += 1;
    if (count < 4) setImmediate(more);
  };
  setImmediate(more);

  await untilQuiet(() => count);

  assert.equal(count, 4);
});

test("what never ends to come is not waited for for ever", async () => {
  let count = 0;

  await untilQuiet(() => {
    count += 1;
    return count;
  });

  assert.ok(count > 1);
});

test("puts of one moment are one write to the segment, the first of them included", async (context) => {
  const writes: number[] = [];
  const counting: OpenFile = async (file) => {
    const opened = await openNewFile(file);
    return {
      write: (bytes, offset, length, position) => {
        writes.push(position);
        return opened.write(bytes, offset, length, position);
      },
      datasync: () => opened.datasync(),
      truncate: (length) => opened.truncate(length),
      close: () => opened.close(),
    };
  };
  const { channel } = await openIn(await tempFolder(context), {}, counting);

  const first = put(channel, 0);
  await new Promise(setImmediate);
  await Promise.all([first, ...upTo(20).map((number) => put(channel, number + 1))]);
  await channel.stop();

  // The head of the segment, the events, the seal.
  assert.equal(writes.length, 3);
});
