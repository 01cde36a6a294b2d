import type { GrowthCase } from "./growth-case.js";
import type { GrowthMemory, GrowthStep } from "./growth-step.js";
import type { MeasureOptions } from "./measure.js";
import { postEach } from "./post.js";
import { requestsOf } from "./requests.js";
import { RowCheck, reaches } from "./rows.js";
import { memoryOf } from "./server-process.js";
import { type SystemUnderTest, startSystem } from "./systems.js";
import { unwinding } from "./unwinding.js";

const ONE_EACH = { fewest: 1, most: 1 };

/** Makes so many tables, then writes to all of them for a while. */
export async function measureTables(growth: GrowthCase, options: MeasureOptions): Promise<readonly GrowthStep[]> {
  const system = await startSystem(growth.bench, { probed: true });
  return await unwinding(system.stop, async () => await measureStarted(growth, system, options));
}

async function measureStarted(
  { bench }: GrowthCase,
  system: SystemUnderTest,
  { generator, seconds, connections }: MeasureOptions,
): Promise<readonly GrowthStep[]> {
  const { notifyUrl: url, service, server, ledger } = system;
  if (ledger === undefined) throw new Error("tables are counted with an agent only");
  const { entities: tables } = bench.bodies;
  const check = new RowCheck(system, 1);
  check.add(1); // The start posted one.
  const order = { url, service, seconds, connections };
  check.addLoad(await generator({ ...order, bodies: { ...bench.bodies, entities: 1 } }), ONE_EACH);
  await check.settled();
  const stored = async () => (await ledger()).stored;

  const fresh = await memoryOf(server);
  const started = performance.now();
  await postEach({ url, requests: requestsOf(bench.bodies, service), connections });
  await reaches("events stored", stored, async () => (await ledger()).received);
  const making = (performance.now() - started) / 1000;
  check.add(tables);
  await check.settled();

  const known = await memoryOf(server);
  const before = await stored();
  const load = await generator({ ...order, bodies: bench.bodies });
  await reaches("events stored", stored, () => before + load.accepted);
  const loading = (Date.now() - load.startedAt) / 1000;
  check.addLoad(load, ONE_EACH);
  await check.settled();
  const used = await memoryOf(server);
  return [
    { work: "tables made", units: tables, seconds: making, memory: between(fresh, known) },
    { work: "events to known tables", units: load.accepted, seconds: loading, memory: between(known, used) },
  ];
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
