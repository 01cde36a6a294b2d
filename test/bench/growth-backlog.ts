import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort } from "../support/free-port.js";
import { type AgentOrder, type AgentProcess, startAgentProcess } from "./agent-process.js";
import type { GrowthCase } from "./growth-case.js";
import type { GrowthStep } from "./growth-step.js";
import type { MeasureOptions } from "./measure.js";
import { postEach } from "./post.js";
import { type BenchRequest, requestsOf } from "./requests.js";
import { reaches } from "./rows.js";
import { storeOf } from "./store.js";
import { unwinding } from "./unwinding.js";
import { usageOf } from "./usage.js";

/**
 * Fills the file channel while no database answers, ends the agent, starts it again with the database there and waits
 * until every event is a row.
 */
export async function measureBacklog(
  { bench, size }: GrowthCase,
  { connections }: MeasureOptions,
): Promise<readonly GrowthStep[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-"));
  const store = await storeOf(bench.database, folder);
  const clear = async () => {
    await store.drop();
    await rm(folder, { recursive: true, force: true });
  };
  const order = { bench, folder, store };
  const nobody = { rdb_port: String(await freePort("127.0.0.1")) };
  return await unwinding(clear, async () => {
    const accepted = await whileItRuns({ ...order, sink: nobody, flags: ["--grace-period", "1"] }, async (agent) => {
      const [request] = requestsOf(bench.bodies, store.service);
      if (request === undefined) throw new Error(`${bench.name} has no notification`);
      const requests = repeated(request, size / request.events);
      return await work("events accepted, database away", agent, async () => {
        await postEach({ url: agent.notifyUrl, requests, connections });
        return size;
      });
    });
    const drained = await whileItRuns(order, async (agent) => {
      const start = { work: "events found at the start", units: size, seconds: (Date.now() - agent.startedAt) / 1000 };
      const there = (await agent.ledger()).stored;
      const drain = await work("events drained", agent, async () => {
        await reaches(
          "events stored",
          async () => (await agent.ledger()).stored,
          () => size,
        );
        return size - there;
      });
      return [start, drain];
    });
    const rows = await store.countRows();
    if (rows !== size) throw new Error(`${size} events were accepted, and ${rows} rows are there`);
    return [accepted, ...drained];
  });
}

async function whileItRuns<T>(order: AgentOrder, act: (agent: AgentProcess) => Promise<T>): Promise<T> {
  const agent = await startAgentProcess(order);
  return await unwinding(agent.server.stop, async () => await act(agent));
}

async function work(name: string, { server }: AgentProcess, act: () => Promise<number>): Promise<GrowthStep> {
  const before = usageOf(server.pid);
  const started = performance.now();
  const units = await act();
  const seconds = (performance.now() - started) / 1000;
  const after = usageOf(server.pid);
  if (before === undefined || after === undefined) return { work: name, units, seconds };
  const bytes = (mebibytes: number) => mebibytes * 2 ** 20;
  const memory = {
    residentBefore: bytes(before.residentMebibytes),
    residentAfter: bytes(after.residentMebibytes),
  };
  return { work: name, units, seconds, memory };
}

function* repeated(request: BenchRequest, times: number): Iterable<BenchRequest> {
  for (let time = 0; time < times; time += 1) yield request;
}
