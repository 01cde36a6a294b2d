import { AgentError, positionFaults } from "./errors.js";
import type { Event } from "./event.js";
import type { Batch } from "./sink.js";

/** Where the positions of a batch sink are kept. @stable */
export interface BatchSinkPositions<Connection> {
  /** `run` of the context: it tells this agent from another one that uses a copy of the channel. */
  readonly owner: string;
  /**
   * Every text that was kept by this sink, of whichever channel: two sinks that share a store keep theirs apart, for example
   * under the `name` of their contexts.
   */
  stored(connection: Connection, signal: AbortSignal): Promise<readonly string[]>;
}

/**
 * What the transaction of a write does besides storing the events: it compares what is kept for `channel` with `before`, and
 * keeps `text` there. When it finds something else it stores nothing at all, and the write throws `conflict()`.
 * @stable
 */
export interface KeptPosition {
  /** The key; each channel has its own. */
  readonly channel: string;
  /** What is to be kept. It begins with the text of the position and a blank. */
  readonly text: string;
  /** What must be there; undefined: nothing. */
  readonly before: string | undefined;
  conflict(): AgentError;
}

/** The positions of one batch sink: what the store holds as far as it is known, and whether that is certain. */
export class KeptPositions<Connection> {
  readonly #parts: BatchSinkPositions<Connection>;
  readonly #owner: string;
  /** By channel, as read first or written last. */
  readonly #known = new Map<string, string | undefined>();
  #inDoubt = true;
  /** Whether all were read: then what is not known was not there. */
  #allRead = false;

  constructor(parts: BatchSinkPositions<Connection>) {
    this.#parts = parts;
    this.#owner = parts.owner.replaceAll(/\s/g, "_");
  }

  /** The texts of the positions, for the channels at their start. */
  async stored(connection: Connection, signal: AbortSignal): Promise<readonly string[]> {
    const texts = await this.#parts.stored(connection, signal);
    this.#known.clear();
    for (const text of texts) this.#known.set(channelOf(text), text);
    this.#allRead = true;
    return texts.map(positionIn);
  }

  /** A write failed, and its transaction may have been committed. */
  doubt(): void {
    this.#inDoubt = true;
  }

  /** The events that are stored, read from the store where a write before was in doubt. Throws for a position of another agent. */
  async covered(batch: Batch, connection: Connection, signal: AbortSignal): Promise<ReadonlySet<Event>> {
    const { position } = batch;
    if (position === undefined || !this.#inDoubt) return new Set();
    const texts = await this.#parts.stored(connection, signal);
    const channel = channelOf(position.text);
    this.#meet(
      channel,
      texts.find((text) => channelOf(text) === channel),
    );
    const covered = texts
      .map(positionIn)
      .flatMap((stored) => (stored === position.text ? batch.events : position.coveredBy(stored)));
    this.#inDoubt = false;
    return new Set(covered);
  }

  /** Undefined behind a channel that forgets. */
  next({ position }: Batch): KeptPosition | undefined {
    if (position === undefined) return undefined;
    const channel = channelOf(position.text);
    const text = `${position.text} ${this.#owner}`;
    return { channel, text, before: this.#known.get(channel), conflict: () => conflictOver(channel) };
  }

  kept({ channel, text }: KeptPosition): void {
    this.#known.set(channel, text);
  }

  /** What is not as it is known was written by this agent, or deleted; else another agent uses a copy of the channel. */
  #meet(channel: string, found: string | undefined): void {
    const isFirst = !this.#allRead && !this.#known.has(channel);
    const isMoved = found !== undefined && found !== this.#known.get(channel) && ownerIn(found) !== this.#owner;
    if (isMoved && !isFirst) throw conflictOver(channel, ownerIn(found));
    this.#known.set(channel, found);
  }
}

function conflictOver(channel: string, owner = "another agent"): AgentError {
  const message =
    `storing with the position of channel "${channel}": "${owner}" has moved it since this agent read or wrote it; ` +
    "stop the other agent and delete what is kept for this channel, or stop this one";
  return new AgentError(positionFaults.conflict, message, { retryable: true });
}

function channelOf(text: string): string {
  return text.slice(0, Math.max(0, text.indexOf(":")));
}

function positionIn(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf(" ")));
}

function ownerIn(text: string): string {
  return text.slice(text.lastIndexOf(" ") + 1);
}
