import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type AgentOrder, type AgentProcess, startAgentProcess } from "./agent-process.js";
import { type BenchLog, logOfBench } from "./log-engine.js";
import { postEach } from "./post.js";
import { requestsOf } from "./requests.js";
import { reaches } from "./rows.js";
import type { ScaleCase } from "./scale-case.js";
import { type BenchStore, storeOf } from "./store.js";
import { unwinding } from "./unwinding.js";

/** Agents over one log and one database. */
export interface ScaleAgents {
  readonly agents: readonly AgentProcess[];
  readonly store: BenchStore;
  readonly log: BenchLog;
  /** Posts each entity once to this agent. */
  postAll(agent: AgentProcess | undefined): Promise<void>;
  /** Waits until the agents together have stored what they received. */
  settled(): Promise<void>;
}

export interface ScaleOrder {
  /** What each agent does. */
  readonly roles: readonly NonNullable<AgentOrder["does"]>[];
  readonly partitions?: number;
  readonly probed?: boolean;
}

const CONNECTIONS = 16;

/** Starts the agents, has the work done, and removes everything. */
export async function withAgents<T>(
  { bench, engine }: ScaleCase,
  { roles, partitions = 8, probed = false }: ScaleOrder,
  work: (agents: ScaleAgents) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-"));
  const store = await storeOf("postgresql", folder);
  const log = await logOfBench(engine, partitions);
  if (log === undefined) throw new Error(`${engine} has no log`);
  const agents: AgentProcess[] = [];
  const clear = async () => {
    await Promise.all(agents.map(({ server }) => server.stop()));
    await log.drop();
    await store.drop();
    await rm(folder, { recursive: true, force: true });
  };
  return await unwinding(clear, async () => {
    for (const [index, does] of roles.entries()) {
      const own = path.join(folder, String(index));
      agents.push(await startAgentProcess({ bench, folder: own, store, channel: log.properties, does, probed }));
    }
    const sum = async (of: "received" | "stored") =>
      (await Promise.all(agents.map((agent) => agent.ledger()))).reduce((total, ledger) => total + ledger[of], 0);
    return await work({
      agents,
      store,
      log,
      postAll: async (agent) => {
        const requests = requestsOf(bench.bodies, store.service);
        await postEach({ url: agent?.notifyUrl ?? "", requests, connections: CONNECTIONS });
      },
      settled: async () => {
        await reaches(
          "events stored",
          () => sum("stored"),
          () => sum("received"),
        );
      },
    });
  });
}
