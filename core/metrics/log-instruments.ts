import type { Readings } from "./readings.js";

/** The log of one channel that agents share. */
export interface LogState {
  readonly channel: string;
  readonly agents: number;
  readonly isReachable: boolean;
  readonly appended: number | undefined;
  readonly stored: number | undefined;
  readonly dead_lettered: number | undefined;
  readonly filtered: number | undefined;
  readonly lost: number;
  readonly unaccounted: number | undefined;
  /** Partitions by who works on them. */
  readonly partitions: { readonly mine: number; readonly others: number; readonly none: number };
  /** Those of this agent. */
  readonly mine: readonly PartitionState[];
}

interface PartitionState {
  readonly partition: string;
  readonly waiting: number | undefined;
  /** 0 in an empty one. */
  readonly secondsOfOldest: number | undefined;
}

/** Partitions of one channel with series of their own; the others together are `(other)`. */
const MOST_PARTITIONS = 100;
const outcomes = ["appended", "stored", "dead_lettered", "filtered", "lost"] as const;
const workers = ["mine", "others", "none"] as const;

/** Adds what is read of shared logs at each scrape. Each partition is reported by the agent that works on it, and by no other. */
export function addLogInstruments(readings: Readings, logs: () => readonly LogState[]): void {
  readings.addGauge({
    name: "deneb_log_reachable",
    help: "0 while the log of a channel that agents share cannot be reached, else 1.",
    labels: ["channel"],
    read: () => logs().map(({ channel, isReachable }) => [[channel], isReachable ? 1 : 0] as const),
  });
  readings.addGauge({
    name: "deneb_log_agents",
    help: "Agents that share the log of a channel and are alive, as this agent sees it.",
    labels: ["channel"],
    read: () => logs().map(({ channel, agents }) => [[channel], agents] as const),
  });
  readings.addGauge({
    name: "deneb_log_partitions",
    help: "Partitions of a shared log by who works on them, as this agent sees it: mine, others or none.",
    labels: ["channel", "worker"],
    read: () =>
      logs().flatMap(({ channel, partitions }) => workers.map((one) => [[channel, one], partitions[one]] as const)),
  });
  readings.addCounter({
    name: "deneb_log_events_total",
    help: "What became of all events of a shared log since it was made; each agent tells the same.",
    labels: ["channel", "outcome"],
    read: () => logs().flatMap((log) => outcomes.map((one) => [[log.channel, one], log[one]] as const)),
  });
  readings.addGauge({
    name: "deneb_log_unaccounted_events",
    help: "Events that the books of a shared log miss, or have too many of; absent while it cannot be told.",
    labels: ["channel"],
    read: () => logs().map(({ channel, unaccounted }) => [[channel], unaccounted] as const),
  });
  readings.addGauge({
    name: "deneb_log_partition_waiting_events",
    help: "Events that wait in a partition that this agent works on; beyond 100 partitions (other) has the sum.",
    labels: ["channel", "partition"],
    read: () =>
      ofPartitions(
        logs,
        ({ waiting }) => waiting,
        (one, other) => one + other,
      ),
  });
  readings.addGauge({
    name: "deneb_log_partition_oldest_event_seconds",
    help: "How long the oldest event waits in a partition that this agent works on; (other) has the longest.",
    labels: ["channel", "partition"],
    read: () => ofPartitions(logs, ({ secondsOfOldest }) => secondsOfOldest, Math.max),
  });
}

function ofPartitions(
  logs: () => readonly LogState[],
  read: (partition: PartitionState) => number | undefined,
  joined: (one: number, other: number) => number,
) {
  return logs().flatMap(({ channel, mine }) => {
    const own = mine.slice(0, MOST_PARTITIONS).map((one) => [[channel, one.partition], read(one)] as const);
    const others = mine.slice(MOST_PARTITIONS).flatMap((one) => read(one) ?? []);
    const [first, ...rest] = others;
    return first === undefined ? own : [...own, [[channel, "(other)"], rest.reduce(joined, first)] as const];
  });
}
