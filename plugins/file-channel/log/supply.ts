import type { Event, Putting, ServiceHolding } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import type { WrittenGroup } from "./appender.js";
import type { RecordText } from "./records.js";

/** Decides which events of a log are handed out next, and has them read. */
export interface Supply {
  /**
   * Counts a put for its services; returns how to take that back. Throws when one of them would hold too much. The texts are
   * undefined for events that count no bytes: those that go into memory alone without being asked for their room before.
   */
  claim(events: readonly Event[], texts: readonly RecordText[] | undefined, putting: Putting | undefined): () => void;
  /** Undefined where services are not told apart. */
  largestServices(most: number): readonly ServiceHolding[] | undefined;
  /** Called when the log is open, before anything else. */
  open(): Promise<void>;
  /** Whether something has to be read to be handed out. */
  readonly unread: boolean;
  /** Whether something on disk would have to come before an event in memory alone. */
  readonly isBehind: boolean;
  /** Up to `max` events that are in memory. */
  shift(max: number): readonly QueuedEvent[];
  /** Reads the next ones and returns those that are handed out by that. */
  read(max: number): Promise<readonly QueuedEvent[]>;
  /** Events were written; true when some of them can be handed out now. */
  written(group: WrittenGroup): boolean;
  /** Events that are in memory alone; the texts are those that were claimed. */
  remember(events: readonly QueuedEvent[], texts: readonly RecordText[] | undefined): void;
  /** Events that were handed out are done. */
  release(taken: readonly QueuedEvent[]): void;
  /** Events that were handed out come again. */
  restore(taken: readonly QueuedEvent[]): void;
  /** The sequence numbers of events that are done by now and are not handed out any more. */
  drop(): Promise<readonly number[]>;
  /** Resolves when nothing is being read. */
  idle(): Promise<void>;
}
