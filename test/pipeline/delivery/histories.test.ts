import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Event } from "../../../core/sdk/index.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

/** What the store does at one write, whatever the data. */
const moods = ["works", "works", "works", "away", "unknown"] as const;
/** What the store says about the data of one event. */
const kinds = ["good", "good", "good", "permanent", "raises", "bug"] as const;

const history = fc.record({
  events: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 12 }),
  moods: fc.array(fc.constantFrom(...moods), { maxLength: 25 }),
  asked: fc.boolean(),
});

const errors = {
  away: () => new AgentError("AWAY", "connection refused", { retryable: true }),
  unknown: () => new Error("socket hang up"),
  permanent: () => new AgentError("DATA", "value too long", { retryable: false }),
  raises: () => new AgentError("STORE", "internal error", { retryable: true }),
  bug: () => new TypeError("cannot read properties"),
} as const;

test("whatever a store does, good events are stored once and in order, and only bad ones become dead letters", async (context) => {
  const folder = await tempFolder(context);
  const { log } = recordingLog();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(history, async ({ events, moods: script, asked }) => {
      run += 1;
      const list = events.map((kind, body): Event => ({ headers: { kind }, body }));
      const moodAt = (write: number) => script[write - 1] ?? "works";
      const sink = new ScriptedSink((batch, write) => {
        const mood = moodAt(write);
        if (mood !== "works") return errors[mood]();
        const bad = batch.map((event) => events[Number(event.body)]).find((kind) => kind !== "good");
        return bad === undefined ? undefined : errors[bad]();
      });
      // The store says the truth of the moment: it works, and the error is one about data.
      const answers = async (error: unknown) =>
        moodAt(sink.writes.length) === "works" && error instanceof Error && /internal|properties/.test(error.message);
      Object.assign(sink, asked ? { answers } : {});
      const deadLetters = new DeadLetters(`${folder}/${run}`);
      const retry = { batchTtl: 10, batchRetryIntervals: [0], untilStored: true };
      const { chain } = chainTo({ sink, deadLetters, log, retry });
      const ending = new AbortController();
      const good = list.filter((event) => event.headers["kind"] === "good");
      // A bad event that nothing tells from a store that is away stays; then the delivery is ended from outside.
      const most = setTimeout(() => ending.abort(), asked ? 30_000 : 40);

      const settled = await deliver(chain, list, { signal: ending.signal });
      clearTimeout(most);

      const letters = [];
      for await (const { event } of deadLetters.open()) letters.push(event);
      assert.deepEqual(
        letters.filter(({ headers }) => headers["kind"] === "good"),
        [],
      );
      assert.equal(new Set(letters.map(({ body }) => body)).size, letters.length, "one letter for each");
      assert.equal(new Set(sink.stored).size, sink.stored.length, "nothing is stored twice");
      if (settled) assert.deepEqual(new Set(sink.stored), new Set(good));
      if (asked) {
        assert.equal(settled, true);
        assert.deepEqual(sink.stored, good);
      }
    }),
    {
      numRuns: 200,
      ...(process.env["DENEB_TEST_SEED"] === undefined ? {} : { seed: Number(process.env["DENEB_TEST_SEED"]) }),
    },
  );
});
