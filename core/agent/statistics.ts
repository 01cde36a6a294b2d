import type { DeadLetters, LetterCounts } from "../pipeline/dead-letters.js";
import type { Ledger } from "../pipeline/ledger.js";
import type { Agent } from "./agent.js";
import type { Running } from "./component.js";
import { type LedgerSnapshot, ledgerSnapshot } from "./ledger-snapshot.js";

interface ComponentStatistics {
  readonly name: string;
  readonly status: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly setup_time: string;
}

export interface SourceStatistics extends ComponentStatistics {
  readonly num_received_events: number;
  readonly num_processed_events: number;
  /** Notifications that were refused, those included that did not come as far as the channels. */
  readonly num_refused_events: number;
}

export interface ChannelStatistics extends ComponentStatistics {
  readonly num_events: number;
  readonly num_puts_ok: number;
  readonly num_puts_failed: number;
  readonly num_takes_ok: number;
  readonly num_takes_failed: number;
}

export interface SinkStatistics extends ComponentStatistics {
  readonly num_processed_events: number;
  readonly num_persisted_events: number;
}

export interface StatisticsSnapshot {
  readonly sources: readonly SourceStatistics[];
  readonly channels: readonly ChannelStatistics[];
  readonly sinks: readonly SinkStatistics[];
  readonly ledger: LedgerSnapshot;
  readonly dead_letters: readonly DeadLetterStatistics[];
}

export interface DeadLetterStatistics {
  readonly sink: string;
  /** Letters that wait for a replay. */
  readonly num_waiting: number;
  /** Letters whose event is on its way to the sink. */
  readonly num_replaying: number;
  readonly num_permanent: number;
  readonly num_retries_exhausted: number;
  readonly num_crashed_the_agent: number;
  readonly bytes: number;
  /** When the oldest was kept, ISO 8601 UTC. */
  readonly oldest?: string;
  /** Removed since the start because of their age. */
  readonly num_deleted: number;
}

/** The counts of an agent's components, in the names of the management interface. */
export class Statistics {
  readonly #agent: Agent;
  readonly #ledger: Ledger;
  readonly #letters: Pick<DeadLetters, "counts">;

  constructor(agent: Agent, ledger: Ledger, letters: Pick<DeadLetters, "counts">) {
    this.#agent = agent;
    this.#ledger = ledger;
    this.#letters = letters;
  }

  snapshot(): StatisticsSnapshot {
    const { sources, channels, sinks } = this.#agent.assembly;
    return {
      sources: sources.map((running) => ({
        ...common(running),
        num_received_events: running.processor.counters.received,
        num_processed_events: running.processor.counters.processed,
        num_refused_events: running.receiver.refusals,
      })),
      channels: channels.map((running) => ({
        ...common(running),
        num_events: running.channel.size,
        num_puts_ok: running.channel.counters.putsOk,
        num_puts_failed: running.channel.counters.putsFailed,
        num_takes_ok: running.channel.counters.takesOk,
        num_takes_failed: running.channel.counters.takesFailed,
      })),
      sinks: sinks.map((running) => ({
        ...common(running),
        num_processed_events: running.counters.processed,
        num_persisted_events: running.counters.persisted,
      })),
      ledger: ledgerSnapshot(channels, this.#ledger),
      dead_letters: this.#letters.counts().map(lettersOf),
    };
  }

  /** Sets every count to zero; sizes, states, set-up times and the ledger stay. */
  reset(): void {
    const { sources, channels, sinks } = this.#agent.assembly;
    for (const { processor, receiver } of sources) {
      processor.counters.reset();
      receiver.resetCounters();
    }
    for (const { channel } of channels) channel.counters.reset();
    for (const { counters } of sinks) counters.reset();
  }
}

function lettersOf({ sink, waiting, replaying, reasons, bytes, oldest, deleted }: LetterCounts): DeadLetterStatistics {
  return {
    sink,
    num_waiting: waiting,
    num_replaying: replaying,
    num_permanent: reasons.permanent,
    num_retries_exhausted: reasons["retries-exhausted"],
    num_crashed_the_agent: reasons["crashed-the-agent"],
    bytes,
    ...(oldest === undefined ? {} : { oldest: oldest.toISOString() }),
    num_deleted: deleted,
  };
}

function common({ name, status, setupTime }: Running): ComponentStatistics {
  return { name, status, setup_time: setupTime.toISOString() };
}
