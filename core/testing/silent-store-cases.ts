import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { failure } from "./expectations.js";
import { untilStored } from "./failure-cases.js";
import { marked, never, type SinkCase } from "./sink-cases.js";
import { StoreWay } from "./store-way.js";

/** Milliseconds in which a write gets to the store; one that does not is aborted nevertheless. */
const UNDER_WAY = 50;
const MOST_MILLIS = 10_000;

/** What a sink does when its store is connected and does not answer. */
export const silentStoreCases: readonly SinkCase[] = [
  {
    name: "a write that its store does not answer ends soon after its signal is aborted, and can be repeated",
    async run({ store, start }) {
      const { tcp } = store;
      if (tcp === undefined) throw failure("the store of the setup has no tcp");
      const way = await StoreWay.open(tcp);
      try {
        const sink = await start({ ...store.config, ...tcp.through(way.port) });
        await sink.persist({ events: [marked("a1")] }, never);
        way.silence();
        const abort = new AbortController();
        const writing = sink.persist({ events: [marked("a2")] }, abort.signal);
        const ended = writing.then(
          () => "stored",
          () => "failed",
        );

        await setTimeout(UNDER_WAY);
        abort.abort();
        assertFailed(await Promise.race([ended, setTimeout(MOST_MILLIS, "running", { ref: false })]));
        way.resume();
        await untilStored(sink, marked("a2"));

        assert.deepEqual([...new Set(await store.readBack())], ["a1", "a2"]);
      } finally {
        await way.close();
      }
    },
  },
];

function assertFailed(outcome: string): void {
  if (outcome === "stored") throw failure("persist resolved, although the store did not answer");
  if (outcome === "failed") return;
  const late = `persist has not settled ${MOST_MILLIS / 1000} s after its signal was aborted, while the store does not answer`;
  throw failure(`${late}; pass the signal on, or close the connection when it aborts, as abandon of batchSink does`);
}
