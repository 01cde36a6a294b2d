import type { AgentProcess } from "./agent-process.js";
import { until } from "./until.js";

/** What `/v1/stats` says of the events of one channel. */
export interface ChannelBooks {
  readonly received: number;
  readonly stored: number;
  readonly dead_lettered: number;
  readonly filtered: number;
  readonly uncounted: number;
  readonly waiting: number;
  readonly unaccounted: number;
}

type Managed = Pick<AgentProcess, "managementUrl">;

/** The books of the first channel. */
export async function booksOf({ managementUrl }: Managed): Promise<ChannelBooks> {
  const reply = await fetch(`${managementUrl}/v1/stats`);
  return JSON.parse(await reply.text()).stats.ledger.channels[0];
}

/** The books of the first channel once nothing waits in it; they are written just after it has let an event go. */
export async function settledBooks(agent: Managed, patience?: number): Promise<ChannelBooks> {
  return await until(
    () => booksOf(agent),
    ({ waiting, unaccounted }) => waiting === 0 && unaccounted === 0,
    patience,
  );
}
