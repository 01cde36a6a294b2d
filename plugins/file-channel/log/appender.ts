import { AgentError, type Event } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import { rangesOf } from "./done-ranges.js";
import { GroupCommitDelay, SingleFlight } from "./group-commit.js";
import { encodeGroup, HIGHEST_SEQUENCE, type PutTexts } from "./records.js";
import { type LogState, NUMBERS_OF_ONE_RUN } from "./restore.js";
import type { DiskState, SegmentWriter } from "./segment-writer.js";
import type { Segment, SegmentList } from "./segments.js";

/** The events of one put, as values and as texts. */
export interface LogPut extends PutTexts {
  readonly events: readonly Event[];
}

export function logPut(events: readonly Event[]): LogPut {
  const texts = events.map((event) => JSON.stringify(event));
  return { events, texts, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
}

/** Called in the order of the events, as soon as they are on disk. */
export type Written = (group: WrittenGroup) => void;

interface WrittenGroup {
  readonly events: readonly QueuedEvent[];
  readonly segment: Segment;
  readonly bytes: number;
}

/** The checkpoint is written after this many numbers, also when no event was written to disk. */
const NUMBERS_BETWEEN_SAVES = NUMBERS_OF_ONE_RUN / 16;

export interface AppenderParts {
  /** Name of the channel, for messages. */
  readonly channel: string;
  readonly state: LogState;
  readonly writer: SegmentWriter;
  readonly segments: SegmentList;
  readonly disk: DiskState;
  readonly written: Written;
  /** Writes the checkpoint. */
  saveDone(): Promise<void>;
}

/** Numbers events and writes them to the newest segment; puts that arrive at the same time share one write. */
export class Appender {
  readonly #parts: AppenderParts;
  readonly #delay = new GroupCommitDelay(() => this.#pending.length);
  readonly #writes = new SingleFlight(
    () => this.#appendPending(),
    () => this.#delay.elapsed(),
  );
  #pending: LogPut[] = [];
  #writing = 0;

  constructor(parts: AppenderParts) {
    this.#parts = parts;
  }

  /** Events that have their numbers and are not on disk yet. */
  get writing(): number {
    return this.#writing;
  }

  /** Resolves when the events are on disk. */
  append(put: LogPut): Promise<void> {
    this.#pending.push(put);
    return this.#writes.run();
  }

  /**
   * Whether the events may get numbers without being written to disk: after an unclean end the numbers must continue above
   * all that were used.
   */
  hasNumbersFor(events: number): boolean {
    const { next, savedNext } = this.#parts.state;
    return next + events - savedNext < NUMBERS_OF_ONE_RUN / 2;
  }

  /** Gives events the next sequence numbers; throws code `CHANNEL_NUMBERS_USED` when none are left. */
  number(events: readonly Event[]): readonly QueuedEvent[] {
    const { state, saveDone, channel } = this.#parts;
    const first = state.next;
    if (first + events.length - 1 > HIGHEST_SEQUENCE) throw numbersUsedUp(channel);
    state.next += events.length;
    if (state.next - state.savedNext > NUMBERS_BETWEEN_SAVES) void saveDone();
    return events.map((event, index) => ({ sequence: first + index, event }));
  }

  /** Writes events that have their sequence numbers. Only when nothing else is being appended. */
  async insert(events: readonly QueuedEvent[]): Promise<void> {
    const { writer, segments } = this.#parts;
    for (const { from, to } of rangesOf(events.map(({ sequence }) => sequence))) {
      const run = events.filter(({ sequence }) => from <= sequence && sequence <= to).map(({ event }) => event);
      segments.add(await writer.write({ bytes: encodeGroup([logPut(run)], from), first: from, last: to }));
    }
  }

  /** Resolves when no append is in progress. */
  async settled(): Promise<void> {
    await this.#writes.settled();
  }

  /** To be called when nothing is appended any more. */
  async close(): Promise<void> {
    await this.#parts.writer.close();
  }

  async #appendPending(): Promise<void> {
    const { state, writer, segments, disk, written, saveDone } = this.#parts;
    const puts = this.#pending;
    this.#pending = [];
    const first = state.next;
    const events = this.number(puts.flatMap((put) => put.events));
    const last = state.next - 1;
    this.#writing = events.length;
    try {
      const bytes = encodeGroup(puts, first);
      const segment = await writer.write({ bytes, first, last });
      segments.add(segment);
      this.#writing = 0;
      written({ events, segment, bytes: bytes.length });
      // From here on the checkpoint knows that a file was begun, and which numbers before it were not used.
      if (segment.first === first) await saveDone();
    } catch (cause) {
      // Saved before a position can hold these numbers: a position above the numbers on disk is taken for a foreign one.
      await saveDone();
      // These numbers are not used again: if the disk kept some of the events after all, they are known to be done.
      state.done.add({ from: first, to: last });
      throw disk.failed(cause);
    } finally {
      this.#writing = 0;
    }
    disk.succeeded();
  }
}

function numbersUsedUp(channel: string): AgentError {
  const remedy = "when its sinks have emptied it, stop the agent and remove the folders of the channel";
  const message = `putting into channel "${channel}": its ${HIGHEST_SEQUENCE} sequence numbers are used up; ${remedy}`;
  return new AgentError("CHANNEL_NUMBERS_USED", message, { retryable: true });
}
