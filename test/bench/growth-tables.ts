import type { GrowthCase } from "./growth-case.js";
import type { GrowthMemory, GrowthStep } from "./growth-step.js";
import type { MeasureOptions } from "./measure.js";
import { headersOf, notificationBodies } from "./notifications.js";
import { postEach } from "./post.js";
import { RowCheck, reaches } from "./rows.js";
import { memoryOf } from "./server-process.js";
import { startSystem } from "./systems.js";

/** Makes so many tables, then writes to all of them for a while. */
export async function measureTables(
  { bench, size }: GrowthCase,
  { generator, seconds, connections }: MeasureOptions,
): Promise<readonly GrowthStep[]> {
  const system = await startSystem(bench, { probed: true });
  const { notifyUrl: url, service, server, ledger } = system;
  try {
    if (ledger === undefined) throw new Error("tables are counted with an agent only");
    const check = new RowCheck(system, 1);
    check.add(1); // The start posted one.
    const order = { url, service, seconds, connections };
    check.addLoad(await generator({ ...order, bodies: { ...bench.bodies, entities: 1 } }), 1);
    await check.settled();
    const steps: GrowthStep[] = [];
    const step = async (work: string, act: () => Promise<number>): Promise<void> => {
      const before = await memoryOf(server);
      const started = performance.now();
      const units = await act();
      const elapsed = (performance.now() - started) / 1000;
      steps.push({ work, units, seconds: elapsed, memory: between(before, await memoryOf(server)) });
    };

    const bodies = notificationBodies(bench.bodies);
    await step("tables made", async () => {
      await postEach({ url, headers: headersOf(bench.bodies.format, service), bodies, connections });
      check.add(size);
      await reaches(
        "events stored",
        async () => (await ledger()).stored,
        async () => (await ledger()).received,
      );
      return size;
    });
    await check.settled();
    let load = 0;
    await step("events to known tables", async () => {
      const before = (await ledger()).stored;
      const result = await generator({ ...order, bodies: bench.bodies });
      check.addLoad(result, 1);
      await reaches(
        "events stored",
        async () => (await ledger()).stored,
        () => before + result.accepted,
      );
      load = (Date.now() - result.startedAt) / 1000;
      return result.accepted;
    });
    await check.settled();
    return steps.map((one, at) => (at === 0 ? one : { ...one, seconds: load }));
  } finally {
    await system.stop();
  }
}

type Memory = Awaited<ReturnType<typeof memoryOf>>;

function between(before: Memory, after: Memory): GrowthMemory {
  return {
    residentBefore: before.rss,
    residentAfter: after.rss,
    heapBefore: before.heap,
    heapAfter: after.heap,
  };
}
