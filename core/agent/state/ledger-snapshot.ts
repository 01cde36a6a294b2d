import { setTimeout as delay } from "node:timers/promises";
import type { CountedChannel } from "../../pipeline/counted-channel.js";
import type { Ledger } from "../../pipeline/ledger.js";
import { waitingIn } from "../../pipeline/ledger-file.js";
import type { RunningChannel } from "../component.js";

/** How the events of one sink ended. */
interface SinkLedger {
  readonly name: string;
  readonly stored: number;
  readonly dead_lettered: number;
  /** Left out on purpose: replayed letters that were stored already. */
  readonly filtered: number;
}

/** `received = stored + dead_lettered + filtered + uncounted + lost + waiting + unaccounted` */
export interface ChannelLedger {
  readonly name: string;
  readonly received: number;
  readonly stored: number;
  readonly dead_lettered: number;
  readonly filtered: number;
  /** Settled just before the process was killed, too late to be counted in one of the three. */
  readonly uncounted: number;
  /** Accepted, and then lost by damage to the files of the channel; the log says which. */
  readonly lost: number;
  /** Absent while the channel cannot tell; with what other agents have put where they share it. */
  readonly waiting?: number;
  /**
   * Anything but 0 in an agent at rest is an event that was lost or stored twice. Absent where the channel does not say how
   * many of the events that wait are in these books.
   */
  readonly unaccounted?: number;
  readonly sinks: readonly SinkLedger[];
}

export interface LedgerSnapshot {
  readonly channels: readonly ChannelLedger[];
  /** The sum of all channels that tell, each without its sign. */
  readonly unaccounted: number;
}

/** The books of the channels that run, beside what they hold now. */
export function ledgerSnapshot(channels: readonly RunningChannel[], ledger: Ledger): LedgerSnapshot {
  const all = channels.map(({ name, channel }) => channelLedger(name, channel, ledger));
  return { channels: all, unaccounted: all.reduce((sum, { unaccounted }) => sum + Math.abs(unaccounted ?? 0), 0) };
}

/** Milliseconds and times that the books are read again while events move. */
const PAUSE = 20;
const MOST_READS = 10;

/**
 * The books of all channels. Between the end of a take and its account they are wrong for a moment: those that do not add up
 * are read again, and of all readings the one counts that comes closest.
 */
export async function steadyBooks(read: () => readonly ChannelLedger[]): Promise<readonly ChannelLedger[]> {
  let best = read();
  for (let reads = 1; reads < MOST_READS && best.some((books) => difference(books) > 0); reads += 1) {
    await delay(PAUSE);
    const now = read();
    best = now.map((books) => {
      const before = best.find(({ name }) => name === books.name);
      return before !== undefined && difference(before) < difference(books) ? before : books;
    });
  }
  return best;
}

/** What a channel says of its events. */
type Holding = Pick<CountedChannel, "size" | "isExact"> & Partial<Pick<CountedChannel, "noteMissing">>;

/** The books of one channel beside what it holds; one that has not started holds what its books say. */
export function channelLedger(name: string, channel: Holding, ledger: Ledger): ChannelLedger {
  channel.noteMissing?.();
  const { size, isExact } = channel;
  const { state, opened } = ledger.account(name);
  const waiting = opened ? size : waitingIn(state);
  const isKnown = waiting !== undefined && (isExact || !opened);
  const sinks = [...state.sinks].map(([sink, { stored, "dead-lettered": dead, filtered }]) => ({
    name: sink,
    stored,
    dead_lettered: dead,
    filtered,
  }));
  return {
    name,
    received: state.received,
    stored: sum(sinks.map(({ stored }) => stored)),
    dead_lettered: sum(sinks.map(({ dead_lettered }) => dead_lettered)),
    filtered: sum(sinks.map(({ filtered }) => filtered)),
    uncounted: state.uncounted,
    lost: state.lost,
    ...(waiting === undefined ? {} : { waiting }),
    ...(isKnown ? { unaccounted: waitingIn(state) - waiting } : {}),
    sinks,
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function difference({ unaccounted = 0 }: ChannelLedger): number {
  return Math.abs(unaccounted);
}
