import type { AgentProcess } from "./agent-process.js";
import { until } from "./until.js";

/** A worker as `GET /v1/stats` shows it. */
export interface ShownWorker {
  readonly number: number;
  readonly state: string;
  readonly pid?: number;
  readonly receives: boolean;
  readonly received?: number;
  readonly stored?: number;
}

/** The statistics of an agent with workers. */
export interface TeamStatistics {
  readonly workers: readonly ShownWorker[];
  readonly ledger: {
    readonly channels: readonly { readonly received: number; readonly stored: number; readonly waiting: number }[];
  };
}

export async function teamOf({ managementUrl }: Pick<AgentProcess, "managementUrl">): Promise<TeamStatistics> {
  const { stats } = JSON.parse(await (await fetch(`${managementUrl}/v1/stats`)).text());
  return stats;
}

/** Ends one worker at once, and waits until another process has its place. */
export async function killWorker(agent: AgentProcess, number: number): Promise<void> {
  const { workers } = await teamOf(agent);
  const { pid = 0 } = workers.find((one) => one.number === number) ?? {};
  process.kill(pid, "SIGKILL");
  const isBack = (one: ShownWorker) => one.number === number && one.pid !== pid && one.state === "running";
  await until(
    async () => (await teamOf(agent).catch(() => undefined))?.workers ?? [],
    (all) => all.some(isBack),
  );
}

/** The one channel of all workers, once it has this many events and none of them waits. */
export async function storedByAll(agent: AgentProcess, events: number): Promise<TeamStatistics> {
  return await until(
    () => teamOf(agent),
    ({ ledger: { channels } }) => {
      const [channel] = channels;
      return channel?.stored === events && channel.waiting === 0;
    },
  );
}
