import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Batch, type Event, type Sink } from "../../../core/sdk/index.js";
import { openIn } from "../../plugins/file-channel/channel-folder.js";
import { feedOf, put } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

test("what a database has stored does not become a dead letter because the one of another service is closed", async (context) => {
  const stored: Event[] = [];
  const isClosed = ({ body }: Event) => body === 2;
  const closed = (events: readonly Event[]) => {
    const named = events.filter(isClosed);
    if (named.length > 0) throw new AgentError("CLOSED", "connecting", { retryable: true, events: named });
  };
  /** Commits database by database: the first one has its rows when the second one turns out to be closed. */
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async ({ events }: Batch) => {
      for (const event of events) if (!isClosed(event) && !stored.includes(event)) stored.push(event);
      closed(events);
      return { requestBytes: 1, responseBytes: 1 };
    },
    positions: {
      stored: async () => [],
      alreadyStored: async ({ events }: Batch) => {
        closed(events);
        return events.filter((event) => stored.includes(event));
      },
    },
  };
  const { channel } = await openIn(await tempFolder(context), {});
  context.after(() => channel.stop());
  await put(channel, 1, 2, 3);
  const deadLetters = new DeadLetters(await tempFolder(context));
  const { log } = recordingLog();
  const retry = { batchTtl: 1, batchRetryIntervals: [1] };
  const { feed } = feedOf({ channel, sink, log, deadLetters, retry, batching: { batchSize: 3 } });
  context.after(() => feed.halt(AbortSignal.abort()));

  feed.join();
  feed.start();
  await until(
    async () => channel.size,
    (size) => size === 0,
  );

  const bodies: unknown[] = [];
  for await (const { event } of deadLetters.open()) bodies.push(event.body);
  assert.deepEqual([stored.map(({ body }) => body), bodies], [[1, 3], [2]]);
});
