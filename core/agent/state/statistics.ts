import type { DeadLetters, LetterCounts } from "../../pipeline/dead-letters/dead-letters.js";
import type { Ledger } from "../../pipeline/ledger.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import { capacityOf } from "../channel-room.js";
import type { Running, RunningChannel, RunningSource } from "../component.js";
import type { Reload } from "../reload.js";
import { type LedgerSnapshot, ledgerSnapshot } from "./ledger-snapshot.js";
import type { ComponentCondition, Readiness } from "./readiness.js";
import { type SharedLogView, sharedLogView } from "./shared-log-view.js";

interface ComponentStatistics {
  readonly name: string;
  readonly status: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly setup_time: string;
}

interface SourceStatistics extends ComponentStatistics {
  readonly num_received_events: number;
  readonly num_processed_events: number;
  /** Notifications that were refused, those included that did not come as far as the channels. */
  readonly num_refused_events: number;
  /** Those of them that were refused because of what their service sent or holds: the services with most of them. */
  readonly over_quota?: readonly { readonly service: string; readonly num_refused_events: number }[];
}

interface ChannelStatistics extends ComponentStatistics {
  /** Absent while the channel cannot tell. */
  readonly num_events?: number;
  /** Most events; absent for a channel without a number in its configuration. */
  readonly capacity?: number;
  /** What its events take; absent when the channel does not count it. */
  readonly bytes?: number;
  /** How long the oldest event waits; absent in an empty channel. */
  readonly oldest_event_seconds?: number;
  /** False when it waits longer than that: since a process before this one. */
  readonly oldest_event_exact?: boolean;
  readonly num_puts_ok: number;
  readonly num_puts_failed: number;
  readonly num_takes_ok: number;
  readonly num_takes_failed: number;
  /** The services of which it holds most; absent when it does not count by service. */
  readonly largest_services?: readonly {
    readonly service: string;
    readonly num_events: number;
    readonly bytes: number;
  }[];
  /** Absent for a channel of one agent. */
  readonly log?: SharedLogView;
}

interface SinkStatistics extends ComponentStatistics {
  readonly num_processed_events: number;
  readonly num_persisted_events: number;
}

interface StatisticsSnapshot {
  readonly sources: readonly SourceStatistics[];
  readonly channels: readonly ChannelStatistics[];
  readonly sinks: readonly SinkStatistics[];
  readonly ledger: LedgerSnapshot;
  readonly dead_letters: readonly DeadLetterStatistics[];
  readonly health: readonly HealthStatistics[];
  /** The last reload of the configuration; absent before the first. */
  readonly last_reload?: { readonly time: string; readonly ok: boolean };
}

interface HealthStatistics {
  readonly kind: string;
  readonly name: string;
  readonly state: "up" | "degraded" | "down";
  readonly findings: readonly { readonly state: string; readonly reason: string; readonly since: string }[];
}

interface StatisticsParts {
  readonly agent: Agent;
  readonly ledger: Ledger;
  readonly letters: Pick<DeadLetters, "counts">;
  readonly readiness: Pick<Readiness, "conditions">;
  readonly reloads: Pick<Reload, "last">;
  readonly clock: Clock;
}

interface DeadLetterStatistics {
  readonly sink: string;
  /** Letters that wait for a replay. */
  readonly num_waiting: number;
  /** Letters whose event is on its way to the sink. */
  readonly num_replaying: number;
  readonly num_permanent: number;
  readonly num_retries_exhausted: number;
  readonly num_crashed_the_agent: number;
  readonly num_stopped: number;
  readonly bytes: number;
  /** When the oldest was kept, ISO 8601 UTC. */
  readonly oldest?: string;
  /** Removed since the start because of their age. */
  readonly num_deleted: number;
  /** True where the agents of a channel share them: each agent counts the same letters. */
  readonly shared?: boolean;
}

/** The counts of an agent's components, in the names of the management interface. */
export class Statistics {
  readonly #parts: StatisticsParts;

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  snapshot(): StatisticsSnapshot {
    const { agent, ledger, letters, readiness, reloads, clock } = this.#parts;
    const { sources, channels, sinks } = agent.assembly;
    const now = clock.now().getTime();
    const { last } = reloads;
    return {
      sources: sources.map((running) => ({
        ...common(running),
        num_received_events: running.processor.counters.received,
        num_processed_events: running.processor.counters.processed,
        num_refused_events: running.receiver.refusals,
        ...overQuotaOf(running),
      })),
      channels: channels.map((running) => ({
        ...common(running),
        ...fillOf(running, now),
        num_puts_ok: running.channel.counters.putsOk,
        num_puts_failed: running.channel.counters.putsFailed,
        num_takes_ok: running.channel.counters.takesOk,
        num_takes_failed: running.channel.counters.takesFailed,
        ...servicesOf(running),
        ...logOf(running),
      })),
      sinks: sinks.map((running) => ({
        ...common(running),
        num_processed_events: running.counters.processed,
        num_persisted_events: running.counters.persisted,
      })),
      ledger: ledgerSnapshot(channels, ledger),
      dead_letters: letters.counts().map(lettersOf),
      health: readiness.conditions().map(healthOf),
      ...(last === undefined ? {} : { last_reload: { time: last.time.toISOString(), ok: last.ok } }),
    };
  }

  /** Sets every count to zero; sizes, states, set-up times and the ledger stay. */
  reset(): void {
    const { sources, channels, sinks } = this.#parts.agent.assembly;
    for (const { processor, receiver } of sources) {
      processor.counters.reset();
      receiver.resetCounters();
    }
    for (const { channel } of channels) channel.counters.reset();
    for (const { counters } of sinks) counters.reset();
  }
}

function fillOf({ node, channel }: RunningChannel, now: number) {
  const capacity = capacityOf(node);
  const { size, bytes, waitingSince } = channel;
  return {
    ...(size === undefined ? {} : { num_events: size }),
    ...(capacity === undefined ? {} : { capacity }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(waitingSince === undefined
      ? {}
      : {
          oldest_event_seconds: Math.max(0, now - waitingSince.since) / 1000,
          oldest_event_exact: waitingSince.exact,
        }),
  };
}

/** Services that are shown, of those with most refusals or events. */
const MOST_SERVICES = 10;

function overQuotaOf({ receiver }: RunningSource) {
  const services = receiver.overQuota.largest(MOST_SERVICES);
  if (services.length === 0) return {};
  return { over_quota: services.map(({ service, refusals }) => ({ service, num_refused_events: refusals })) };
}

function servicesOf({ channel }: RunningChannel) {
  const services = channel.largestServices(MOST_SERVICES);
  if (services === undefined) return {};
  return { largest_services: services.map(({ service, events, bytes }) => ({ service, num_events: events, bytes })) };
}

function logOf({ channel }: RunningChannel) {
  const log = sharedLogView(channel);
  return log === undefined ? {} : { log };
}

function healthOf({ kind, name, state, findings }: ComponentCondition): HealthStatistics {
  return { kind, name, state, findings: findings.map((one) => ({ ...one, since: one.since.toISOString() })) };
}

function lettersOf(counts: LetterCounts): DeadLetterStatistics {
  const { sink, waiting, replaying, reasons, bytes, oldest, deleted, shared } = counts;
  return {
    sink,
    num_waiting: waiting,
    num_replaying: replaying,
    num_permanent: reasons.permanent,
    num_retries_exhausted: reasons["retries-exhausted"],
    num_crashed_the_agent: reasons["crashed-the-agent"],
    num_stopped: reasons.stopped,
    bytes,
    ...(oldest === undefined ? {} : { oldest: oldest.toISOString() }),
    num_deleted: deleted,
    ...(shared === undefined ? {} : { shared }),
  };
}

function common({ name, status, setupTime }: Running): ComponentStatistics {
  return { name, status, setup_time: setupTime.toISOString() };
}
