import type { Ledger } from "./agent-process.js";
import type { LoadGenerator, LoadOrder, LoadResult } from "./load.js";
import type { MeasureOptions } from "./measure.js";
import { reaches } from "./rows.js";
import { type ScaleAgents, withAgents } from "./scale-agents.js";
import type { ScaleCase, ScaleFigure } from "./scale-case.js";
import { cpuSecondsBetween, cpuSecondsOf, usageOf } from "./usage.js";

const WARM_SECONDS = 3;
const MOST_WARMINGS = 10;

type Roles = readonly ["both", "both"] | readonly ["receives", "stores"];

/** Full load on all agents that receive and store, or on the one that receives. */
export async function measureShared(
  scale: ScaleCase,
  options: MeasureOptions,
  roles: Roles,
): Promise<readonly ScaleFigure[]> {
  return await withAgents(scale, { roles }, async (all) => {
    const receiving = roles[0] === "both" ? all.agents : all.agents.slice(0, 1);
    const storing = roles[0] === "both" ? all.agents : all.agents.slice(1);
    const order = { service: all.store.service, bodies: scale.bench.bodies };
    const load = async (seconds: number) =>
      await splitLoad(
        options.generator,
        receiving.map(({ notifyUrl }) => notifyUrl),
        {
          ...order,
          seconds,
          connections: options.connections,
        },
      );
    await all.postAll(receiving[0]);
    let warmings = 0;
    const least = async () =>
      Math.min(...(await Promise.all(storing.map((one) => one.ledger()))).map((one) => one.stored));
    do {
      await load(Math.min(WARM_SECONDS, options.seconds));
      await all.settled();
      warmings += 1;
    } while ((await least()) === 0 && warmings < MOST_WARMINGS);

    const before = await look(all);
    const results = await load(options.seconds);
    const since = secondsSince(results);
    const storedAtEnd = (await ledgersOf(all)).stored - before.stored;
    const perSecondAtEnd = storedAtEnd / since();
    await all.settled();
    const elapsed = since();
    const after = await look(all);
    const events = after.received - before.received;
    // What the agents know is what is there.
    await reaches("rows", all.store.countRows, () => after.received);
    const micros = (cpuSeconds: number) => (cpuSeconds / events) * 1e6;
    const agent = (index: number) => micros((after.agents[index] ?? 0) - (before.agents[index] ?? 0));
    const names = roles[0] === "both" ? ["first agent", "second agent"] : ["agent that receives", "agent that stores"];
    return [
      // As of one agent: the last events may wait for a full batch, or for the next read of the log.
      { what: "stored", value: Math.max(perSecondAtEnd, events / elapsed), unit: "/s" },
      { what: "p99 of answers", value: Math.max(...results.map(({ p99 }) => p99)), unit: "ms" },
      ...names.map((name, index) => ({
        what: `CPU of the ${name} for an event`,
        value: agent(index),
        unit: "µs" as const,
      })),
      { what: "CPU of the log for an event", value: micros(cpuSecondsBetween(before.log, after.log)), unit: "µs" },
      {
        what: "CPU of the database for an event",
        value: micros(cpuSecondsBetween(before.database, after.database)),
        unit: "µs",
      },
    ];
  });
}

/** The connections are shared out over the addresses. */
async function splitLoad(
  generator: LoadGenerator,
  urls: readonly string[],
  order: Omit<LoadOrder, "url">,
): Promise<readonly LoadResult[]> {
  const connections = Math.ceil(order.connections / urls.length);
  return await Promise.all(urls.map((url) => generator({ ...order, url, connections })));
}

/** Seconds from the first request of all loads, not less than these took. */
function secondsSince(results: readonly LoadResult[]): () => number {
  const startedAt = Math.min(...results.map((one) => one.startedAt));
  const least = Math.max(...results.map(({ seconds }) => seconds));
  return () => Math.max(least, (Date.now() - startedAt) / 1000);
}

/** Of all agents together. */
async function ledgersOf({ agents }: ScaleAgents): Promise<Ledger> {
  const ledgers = await Promise.all(agents.map((agent) => agent.ledger()));
  return {
    received: ledgers.reduce((sum, { received }) => sum + received, 0),
    stored: ledgers.reduce((sum, { stored }) => sum + stored, 0),
  };
}

async function look(all: ScaleAgents) {
  const { agents, store, log } = all;
  return {
    ...(await ledgersOf(all)),
    agents: agents.map(({ server }) => usageOf(server.pid)?.cpuSeconds ?? Number.NaN),
    log: cpuSecondsOf(log.command) ?? new Map<number, number>(),
    database: cpuSecondsOf(store.command ?? "") ?? new Map<number, number>(),
  };
}
