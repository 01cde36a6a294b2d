import { randomBytes, randomUUID } from "node:crypto";
import { type Batch, type Event, idOf, type Sink } from "../sdk/index.js";
import { assertStored, failure } from "./expectations.js";
import { markOf } from "./marked-event.js";
import { marked, never, type SinkCase } from "./sink-cases.js";

/** What a sink says of what it has stored. */
export const alreadyStoredCases: readonly SinkCase[] = [
  {
    name: "a sink that tells which events of a batch it has names these, and no others",
    async run({ store, start }) {
      const sink = await start();
      const channel = randomBytes(8).toString("hex");
      const [first, second] = [batchOf(channel, 1, "a1", "a2"), batchOf(channel, 2, "a3")];

      await assertTold(sink, first, []);
      await sink.persist(first, never);
      await assertTold(sink, first, first.events);
      await assertTold(sink, second, []);
      const next = await start();
      await assertTold(next, first, first.events);
      await next.persist(second, never);
      await assertTold(next, second, second.events);

      assertStored(await store.readBack(), ["a1", "a2", "a3"]);
    },
  },
];

/** What a store does that keeps the ids of events. */
export const keptIdsCases: readonly SinkCase[] = [
  {
    name: "what is written again under the same ids is stored once, by this sink and by the next one",
    async run({ store, start }) {
      const ids = new Map<string, string>();
      const again = (...marks: readonly string[]): Batch => {
        for (const mark of marks) if (!ids.has(mark)) ids.set(mark, randomUUID());
        return { events: marks.map((mark) => marked(mark)), idOf: (event) => ids.get(markOf(event)) ?? "" };
      };
      const sink = await start();
      await sink.persist(again("a1", "a2"), never);
      await sink.persist(again("a1", "a2"), never);
      const next = await start();
      await next.persist(again("a2", "a3"), never);

      assertStored(await store.readBack(), ["a1", "a2", "a3"]);

      // The same content in another event is another event.
      await next.persist({ events: [marked("a4")] }, never);
      await next.persist({ events: [marked("a4")] }, never);
      const fourth = (await store.readBack()).filter((mark) => mark === "a4").length;
      if (fourth !== 2) throw failure(`of two events with other ids and the same content ${fourth} are stored`);
    },
  },
];

/** A position covers the batch up to whose number it stands. */
function batchOf(channel: string, number: number, ...marks: readonly string[]): Batch {
  const events = marks.map((mark) => marked(mark));
  const covers = (text: string) => text.startsWith(`${channel}:`) && Number(text.slice(channel.length + 1)) >= number;
  const position = { text: `${channel}:${number}`, coveredBy: (text: string) => (covers(text) ? events : []) };
  return { events, idOf: (event) => idOf({ events }, event), position };
}

async function assertTold(sink: Sink, batch: Batch, wanted: readonly Event[]): Promise<void> {
  const told = (await sink.positions?.alreadyStored?.(batch, never)) ?? [];
  const foreign = told.filter((event) => !batch.events.includes(event));
  if (foreign.length > 0)
    throw failure("alreadyStored names events that are not of its batch; name the objects of the batch");
  const isTold = new Set(told);
  // Without positions in its store a sink can tell only what it noted itself of a write that failed.
  const known = sink.positions?.stored === undefined ? [] : wanted;
  const missing = known.filter((event) => !isTold.has(event)).map(markOf);
  if (missing.length > 0)
    throw failure(`alreadyStored does not name what is stored, which is written again then: ${missing.join(", ")}`);
  const surplus = told.filter((event) => !wanted.includes(event)).map(markOf);
  if (surplus.length > 0)
    throw failure(`alreadyStored names what is not stored, and is lost then: ${surplus.join(", ")}`);
}
