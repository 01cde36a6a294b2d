import { onAbort } from "../../sdk/index.js";
import { heardByMany } from "../supervision.js";

/** What a gate asks of its channel. */
export interface PositionSkipping {
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
