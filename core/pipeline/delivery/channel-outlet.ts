import { onAbort } from "../../sdk/index.js";
import type { ChannelAccount } from "../channel-account.js";
import type { CountedChannel } from "../counted-channel.js";
import { heardByMany } from "../supervision.js";
import type { ChannelRoom } from "./batcher.js";
import { Settlements } from "./settlements.js";

/** The end of a channel from which sinks take: what all that take from it share, also those that come later. */
export class ChannelOutlet implements PositionSkipping {
  readonly channel: CountedChannel;
  /** What became of events that are still in the channel. */
  readonly settlements = new Settlements();
  /** Opens the way to the first take when every sink has told what it has stored already. */
  readonly gate: PositionGate;
  /** The name of the channel and the type of its plugin, for messages. */
  readonly title: string | undefined;
  readonly room: ChannelRoom;
  /** The dead letters that agents share; undefined behind a channel of one agent, and before they are followed. */
  letters: { has(idInChannel: string): boolean } | undefined;
  readonly #account: Pick<ChannelAccount, "skipped" | "leftOut"> | undefined;

  constructor(
    channel: CountedChannel,
    account?: Pick<ChannelAccount, "skipped" | "leftOut">,
    title?: string,
    room: ChannelRoom = {},
  ) {
    this.channel = channel;
    this.room = room;
    this.title = title;
    this.#account = account;
    this.gate = new PositionGate(this);
  }

  /**
   * What is left out was settled by the process before, which could not write it into the ledger any more; in a channel that
   * agents share, by any of them.
   */
  async skipTo(position: string): Promise<void> {
    const skipped = await this.channel.skipTo(position);
    if (skipped > 0 && this.channel.isExact) this.#account?.skipped(skipped);
  }

  /** Leaves out events of which there are dead letters. */
  async leaveOut(letters: AsyncIterable<string>): Promise<void> {
    const left = await this.channel.leaveOut(letters);
    if (left > 0 && this.channel.isExact) this.#account?.leftOut(left);
  }
}

/** What a gate asks of its channel. */
interface PositionSkipping {
  /** Leaves out what was done before a stored position. */
  skipTo(position: string): Promise<unknown>;
}

/**
 * What is stored already must be left out before anyone takes from a channel. Each sink of the channel joins, then arrives
 * with the positions it has stored, or leaves. The gate opens once: when nobody is missing and somebody waits.
 */
export class PositionGate {
  readonly #channel: PositionSkipping;
  readonly #opening = new AbortController();
  readonly #opened = heardByMany(this.#opening.signal);
  readonly #missing = new Set<GateTicket>();
  #waiting = 0;

  constructor(channel: PositionSkipping) {
    this.#channel = channel;
  }

  get isOpen(): boolean {
    return this.#opened.aborted;
  }

  join(): GateTicket {
    const ticket: GateTicket = {
      skip: (position) => this.#skip(position),
      arrive: (signal) => this.#arrive(ticket, signal),
      leave: () => this.#leave(ticket),
    };
    if (!this.isOpen) this.#missing.add(ticket);
    return ticket;
  }

  async #skip(position: string): Promise<boolean> {
    if (this.isOpen) return false;
    await this.#channel.skipTo(position);
    return true;
  }

  async #arrive(ticket: GateTicket, signal: AbortSignal): Promise<boolean> {
    this.#missing.delete(ticket);
    this.#waiting += 1;
    this.#openIfComplete();
    await anyAborted(this.#opened, signal);
    this.#waiting -= 1;
    return this.isOpen;
  }

  #leave(ticket: GateTicket): void {
    this.#missing.delete(ticket);
    this.#openIfComplete();
  }

  #openIfComplete(): void {
    if (this.#missing.size === 0 && this.#waiting > 0) this.#opening.abort();
  }
}

/** The place of one sink, or one group of sinks, at a gate. */
export interface GateTicket {
  /**
   * Leaves out what is done according to a stored position. False when the gate is open: others have taken already, so
   * the holder compares each of its batches with the position.
   */
  skip(position: string): Promise<boolean>;
  /** After the last position. Resolves to true when the gate is open, to false when the signal aborts first. */
  arrive(signal: AbortSignal): Promise<boolean>;
  /** The gate does not wait for this ticket any more. A second call does nothing. */
  leave(): void;
}

function anyAborted(one: AbortSignal, other: AbortSignal): Promise<void> {
  if (one.aborted || other.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      for (const stop of stops) stop();
      resolve();
    };
    const stops = [one, other].map((signal) => onAbort(signal, end));
  });
}
