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

/** What a sink does that says itself which failed writes may be repeated. */
export const repeatedWriteCases: readonly SinkCase[] = [
  {
    name: "a write whose answer is lost with its connection is not repeated as long as that could store it twice",
    async run({ store, start }) {
      const { tcp } = store;
      if (tcp === undefined) throw failure("the store of the setup has no tcp");
      const way = await StoreWay.open(tcp);
      const abort = new AbortController();
      try {
        const sink = await start({ ...store.config, ...tcp.through(way.port) });
        await sink.persist({ events: [marked("a1")] }, never);
        way.loseAnswers();
        const ended = sink.persist({ events: [marked("a2")] }, abort.signal).then(
          () => "stored",
          () => "failed",
        );
        // A store with transactions waits for the next statement instead.
        const has = async () => (await store.readBack()).includes("a2");
        for (let looks = 0; looks < MOST_LOOKS && !(await has()); looks += 1) await setTimeout(UNDER_WAY);
        way.cut();

        const outcome = await Promise.race([ended, setTimeout(MOST_MILLIS, "running", { ref: false })]);

        const times = (await store.readBack()).filter((mark) => mark === "a2").length;
        if (outcome === "stored" && times > 1) throw storedTwice(times);
      } finally {
        abort.abort();
        await way.close();
      }
    },
  },
];

const MOST_LOOKS = 10;

function storedTwice(times: number): Error {
  const repeated = `one call of persist stored its event ${times} times, since its connection was lost before the answer`;
  return failure(
    `${repeated}; fail instead: mayRepeat is true only for what was not sent, or changes nothing when it comes again`,
  );
}

function assertFailed(outcome: string): void {
  if (outcome === "stored") throw failure("persist resolved, although the store did not answer");
  if (outcome === "failed") return;
  const late = `persist has not settled ${MOST_MILLIS / 1000} s after its signal was aborted, while the store does not answer`;
  throw failure(`${late}; pass the signal on, or close the connection when it aborts, as abandon of batchSink does`);
}
