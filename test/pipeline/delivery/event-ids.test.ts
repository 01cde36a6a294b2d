import assert from "node:assert/strict";
import { test } from "node:test";
import { replayedEvent } from "../../../core/pipeline/dead-letters/dead-letter.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Event, idOf, type Sink } from "../../../core/sdk/index.js";
import { openIn } from "../../plugins/file-channel/channel-folder.js";
import { feedOf } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const { log } = recordingLog();
const event: Event = {
  headers: { "fiware-service": "s", timestamp: "1" },
  body: { id: "Room:1", 10: "ten", 2: "two", text: "\u{1d49f} \u2028", attributes: [{ name: "a", value: 1.5 }] },
};

/** A sink that notes the ids of what it gets, and fails as `judge` says. */
function noting(judge: () => Error | undefined) {
  const ids: string[] = [];
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async (batch) => {
      ids.push(...batch.events.map((one) => idOf(batch, one)));
      const error = judge();
      if (error !== undefined) throw error;
      return { requestBytes: 0, responseBytes: 0 };
    },
  };
  return { ids, sink };
}

test("an event has one id before a crash, after it, in its dead letter and in the replay of that", async (context) => {
  const folder = await tempFolder(context);
  const deadLetters = new DeadLetters(folder);
  const away = noting(() => new AgentError("AWAY", "the store is away", { retryable: true }));
  const first = await openIn(folder);
  const transaction = first.channel.openPut();
  transaction.put(event);
  await transaction.commit();
  const retry = { batchTtl: -1, batchRetryIntervals: [1] };
  const crashed = feedOf({ channel: first.channel, sink: away.sink, deadLetters, log, retry });
  crashed.feed.start();
  await until(
    async () => away.ids.length,
    (tries) => tries > 2,
  );
  await crashed.feed.halt(AbortSignal.timeout(5000));
  await first.channel.stop();

  const refusing = noting(() => new AgentError("BAD", "never", { retryable: false }));
  const second = await openIn(folder);
  const refused = feedOf({ channel: second.channel, sink: refusing.sink, deadLetters, log });
  refused.feed.start();
  await refused.feed.drain(AbortSignal.timeout(5000));
  const replayed = noting(() => undefined);
  for await (const letter of deadLetters.open()) {
    const again = second.channel.openPut();
    again.put(replayedEvent(letter));
    await again.commit();
    assert.equal(letter.id, away.ids[0]);
  }
  const last = feedOf({ channel: second.channel, sink: replayed.sink, deadLetters, log });
  last.feed.start();
  await last.feed.drain(AbortSignal.timeout(5000));
  await second.channel.stop();

  const seen = [...away.ids, ...refusing.ids, ...replayed.ids];
  assert.equal(new Set(seen).size, 1);
  assert.deepEqual([refusing.ids.length, replayed.ids.length], [1, 1]);
});
