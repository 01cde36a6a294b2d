import type { Event, Receipt, StoreAnswer } from "../../sdk/index.js";
import type { DeliveryTrace } from "../../tokens.js";
import type { TakenBatch } from "./taken-batch.js";

/** The circumstances of one delivery. */
export interface Course {
  /** Aborts a write that is running. */
  readonly signal: AbortSignal;
  /** Ends a wait for the next try, but not a write. */
  readonly hurry: AbortSignal;
  /** Number of this try for the events that are still open, from 1. */
  readonly attempt: number;
  /**
   * What the tries before say about the batch. `suspected`: it failed identically several times, so one of its events may
   * be the reason. `exhausted`: it is not tried again.
   */
  readonly doubt: "none" | "suspected" | "exhausted";
  /** The most events of one write; absent: all of them. */
  readonly most?: number | undefined;
  /**
   * How many events may be held back beside the others, none while several feeds take from the channel; absent where the channel cannot.
   */
  readonly mostHeld?: (() => number) | undefined;
  /** Whether events of a batch that keeps failing are to be held back beside the others; absent where none can be. */
  readonly isUntold?: ((open: TakenBatch) => Promise<boolean>) | undefined;
  /** Whether the sink could not be asked what it has of this batch: after a failure it is to be asked again before events are judged. */
  readonly isUnasked?: boolean | undefined;
  /** Where the batch comes from; its size includes the batch. */
  readonly channel?: { readonly size: number | undefined };
  /** Absent for a batch that is not traced. */
  readonly trace?: DeliveryTrace;
}

/**
 * One part of the way from a channel to a store. It hands the batch to the part behind it. When `deliver` resolves, every
 * event of the batch is settled; otherwise it rejects, and the events that are settled say so in the batch.
 */
export interface Stage {
  readonly name: string;
  /** The part behind this one; absent at the end and where the way forks. */
  readonly next?: Stage | undefined;
  deliver(batch: TakenBatch, course: Course): Promise<Receipt>;
}

export const nothingSent: Receipt = { requestBytes: 0, responseBytes: 0 };

export function sumOf(one: Receipt, other: Receipt): Receipt {
  if (one === nothingSent) return other;
  return {
    requestBytes: one.requestBytes + other.requestBytes,
    responseBytes: one.responseBytes + other.responseBytes,
  };
}

/** A batch goes back into its channel, to be taken again at once together with what came after it. */
export class GivenBack extends Error {
  constructor(cause: unknown) {
    super("the batch is given back", { cause });
  }
}

/** Some events of a batch are settled, and of the others nobody can tell yet whether they are stored. */
export class HeldBack extends GivenBack {
  /** Those that are not settled. */
  readonly held: readonly Event[];
  /** No others are to be taken beside them. */
  readonly isFull: boolean;
  /** Milliseconds for which they need not be delivered while no others come. */
  readonly rest: number;

  constructor(
    cause: unknown,
    { held = [], isFull = false, rest = 0 }: Partial<Pick<HeldBack, "held" | "isFull" | "rest">> = {},
  ) {
    super(cause);
    this.held = held;
    this.isFull = isFull;
    this.rest = rest;
  }
}

/** The names of the parts in the order in which a batch passes them. */
export function namesOf(stage: Stage): readonly string[] {
  return [stage.name, ...(stage.next === undefined ? [] : namesOf(stage.next))];
}

/** What the parts of a chain may ask the store at its end: a sink, or the sinks of a group. */
export interface StoreQuestions {
  /** True when a position is stored with the rows: then no event may be stored before one that is older. */
  readonly keepsPositions: boolean;
  /** The events of a batch that are stored although its write failed; rejects when the store cannot tell now. */
  alreadyStored(batch: TakenBatch, signal: AbortSignal): Promise<readonly Event[]>;
  /** False when this failure says nothing about the data, undefined when the store cannot be asked; see `Sink.answers`. */
  answers(error: unknown, signal: AbortSignal): Promise<StoreAnswer>;
}
