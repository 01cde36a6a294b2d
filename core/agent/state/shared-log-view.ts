import type { CountedChannel } from "../../pipeline/counted-channel.js";
import type { ChannelPart, LogSummary } from "../../sdk/index.js";

/** A partition of the log of a channel that agents share, in the names of the management interface. */
type PartitionView = {
  readonly partition: string;
  /** The run of the agent that works on it; absent: nobody does. */
  readonly agent?: string;
  /** True when this agent works on it. */
  readonly mine: boolean;
  readonly waiting?: number;
  readonly exact: boolean;
  /** When its oldest waiting event was accepted, ISO 8601 UTC; absent in an empty one, and while it is unknown. */
  readonly oldest?: string;
  readonly appended?: number;
  /** Stored, dead-lettered or filtered, by any agent. */
  readonly passed?: number;
  readonly lost: number;
};

/** The log of a channel that agents share: what all of them put and took. */
export type SharedLogView = {
  readonly engine: string;
  readonly id: string;
  readonly group: string;
  readonly agents: readonly {
    readonly run: string;
    readonly since: string;
    readonly partitions: number;
    readonly mine: boolean;
  }[];
  readonly appended?: number;
  readonly stored?: number;
  readonly dead_lettered?: number;
  readonly filtered?: number;
  readonly lost: number;
  readonly waiting?: number;
  /** Absent while it cannot be told. */
  readonly unaccounted?: number;
  readonly exact: boolean;
  /** Why it cannot be reached; absent while it can. */
  readonly unreachable?: string;
  readonly num_partitions: number;
  readonly num_unattended: number;
  /** Those that need a look first: without an agent, then with the oldest event, then with most events. */
  readonly partitions: readonly PartitionView[];
};

/** Partitions that statistics show. */
const MOST_PARTITIONS = 100;

/** Undefined for a channel of one agent. */
export function sharedLogView(
  channel: Pick<CountedChannel, "parts" | "log">,
  mostPartitions = MOST_PARTITIONS,
): SharedLogView | undefined {
  const log = channel.log();
  if (log === undefined) return undefined;
  const parts = channel.parts();
  return {
    engine: log.engine,
    id: log.id,
    group: log.group,
    agents: log.agents.map(({ run, since, parts: partitions, mine }) => ({
      run,
      since: timeOf(since),
      partitions,
      mine,
    })),
    ...booksOf(log),
    ...(log.unreachable === undefined ? {} : { unreachable: log.unreachable }),
    num_partitions: parts.length,
    num_unattended: parts.filter(isUnattended).length,
    partitions: parts.toSorted(byNeed).slice(0, mostPartitions).map(partitionView),
  };
}

export function isUnattended({ agent }: ChannelPart): boolean {
  return agent === undefined;
}

function booksOf({ appended, stored, deadLettered, filtered, lost, waiting, unaccounted, exact }: LogSummary) {
  return {
    ...given("appended", appended),
    ...given("stored", stored),
    ...given("dead_lettered", deadLettered),
    ...given("filtered", filtered),
    lost,
    ...given("waiting", waiting),
    ...given("unaccounted", unaccounted),
    exact,
  };
}

function partitionView(part: ChannelPart): PartitionView {
  const { agent, mine, exact, oldest, lost } = part;
  return {
    partition: part.part,
    ...(agent === undefined ? {} : { agent }),
    mine,
    ...given("waiting", part.waiting),
    exact,
    ...(oldest === undefined ? {} : { oldest: timeOf(oldest) }),
    ...given("appended", part.appended),
    ...given("passed", part.passed),
    lost,
  };
}

function byNeed(one: ChannelPart, other: ChannelPart): number {
  return (
    Number(isUnattended(other)) - Number(isUnattended(one)) ||
    (one.oldest ?? Number.MAX_SAFE_INTEGER) - (other.oldest ?? Number.MAX_SAFE_INTEGER) ||
    (other.waiting ?? 0) - (one.waiting ?? 0)
  );
}

function timeOf(milliseconds: number): string {
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString();
}

function given<K extends string>(name: K, value: number | undefined): { readonly [N in K]?: number } {
  const member: { [N in K]?: number } = {};
  if (value !== undefined) member[name] = value;
  return member;
}
