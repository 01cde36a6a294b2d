import type { Receipt } from "../../sdk/index.js";
import type { TakenBatch } from "./taken-batch.js";

/** The circumstances of one delivery. */
export interface Course {
  /** Aborts a write that is running. */
  readonly signal: AbortSignal;
  /** Ends a wait for the next try, but not a write. */
  readonly hurry: AbortSignal;
  /** The try this is of the events that are still open, from 1. */
  readonly attempt: number;
  /**
   * What the tries before say about the batch. `suspected`: it failed identically several times, so one of its events may
   * be the reason. `exhausted`: it is not tried again.
   */
  readonly doubt: "none" | "suspected" | "exhausted";
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
  return {
    requestBytes: one.requestBytes + other.requestBytes,
    responseBytes: one.responseBytes + other.responseBytes,
  };
}

/** The names of the parts in the order in which a batch passes them. */
export function namesOf(stage: Stage): readonly string[] {
  return [stage.name, ...(stage.next === undefined ? [] : namesOf(stage.next))];
}
