import { Session } from "node:inspector/promises";
import { setImmediate } from "node:timers/promises";
import type { Event, Sink } from "../sdk/index.js";
import { failure } from "./expectations.js";
import { marked, never, type SinkCase } from "./sink-cases.js";

const BATCHES = 20;
const IN_A_BATCH = 30;
/** A sink may remember what it wrote last. */
const MOST_KEPT = (BATCHES * IN_A_BATCH) / 2;

/** Whether a sink still refers to what it has stored. */
export const keptEventsCases: readonly SinkCase[] = [
  {
    name: "events that are stored are not kept in memory",
    async run({ start }) {
      const sink = await start();

      const written = await writeBatches(sink);
      await collectGarbage();

      const kept = written.filter((event) => event.deref() !== undefined).length;
      if (kept <= MOST_KEPT) return;
      const says = `after ${written.length} events were stored the sink still refers to ${kept} of them`;
      throw failure(`${says}; keep ids or a position, and nothing that grows with the events`);
    },
  },
];

async function writeBatches(sink: Sink): Promise<readonly WeakRef<Event>[]> {
  const written: WeakRef<Event>[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const events = Array.from({ length: IN_A_BATCH }, (_, at) => marked(`m${batch}-${at}`));
    written.push(...events.map((event) => new WeakRef(event)));
    await sink.persist({ events }, never);
  }
  return written;
}

async function collectGarbage(): Promise<void> {
  // What a WeakRef was made for stays until the turn ends.
  await setImmediate();
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
