import assert from "node:assert/strict";
import { test } from "node:test";
import { DEAD_LETTER_REPLAY, DEAD_LETTERS } from "../../../core/agent/container.js";
import { sentLetterOf } from "../../../core/pipeline/dead-letters/dead-letter.js";
import { type Event, letterHeader } from "../../../core/sdk/index.js";
import { letter } from "../../pipeline/dead-letters/letters-agent.js";
import { runningManagement } from "../../support/running-management.js";
import { SharedLog } from "../../support/shared-channel.js";
import { until } from "../../support/until.js";

const id = "l.0.1-a";

test("what is sent of a letter says where the mark of its replay stands, also when another agent changes the letter right after it", async (context) => {
  const log = new SharedLog();
  const sent: Event[] = [];
  const persist = async ({ events }: { readonly events: readonly Event[] }) => {
    sent.push(...events.filter(({ headers }) => headers[letterHeader] !== undefined));
    return { requestBytes: 0, responseBytes: 0 };
  };
  const agent = async () => {
    const sink = { start: async () => {}, stop: async () => {}, persist };
    const { container } = await runningManagement(context, { sink, channelPlugin: log.plugin });
    return { letters: container.resolve(DEAD_LETTERS), replay: container.resolve(DEAD_LETTER_REPLAY) };
  };
  const [first, second] = [await agent(), await agent()];
  await first.letters.keep([letter(id)]);
  const entryAt = (offset: number) =>
    until(
      () => Promise.all([first, second].map(({ letters }) => letters.entry("k1", id))),
      (entries) => entries.every((entry) => entry?.offset === offset),
    );
  const mark = first.letters.markReplaying.bind(first.letters);
  first.letters.markReplaying = async (...marking) => {
    const marked = await mark(...marking);
    await entryAt(1);
    await second.letters.mark("k1", [id], "waiting");
    await entryAt(2);
    return marked;
  };

  await first.replay.replay({});

  const [event = assert.fail()] = await until(
    async () => sent,
    ({ length }) => length > 0,
  );
  assert.deepEqual(sentLetterOf(event), { id, sentAt: 1 });
});
