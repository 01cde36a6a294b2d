import { codeOf, type Event, positionFaults, reasonOf, retryAfterOf } from "../../sdk/index.js";
import type { TakenBatch } from "./taken-batch.js";

/** What the parts of a chain may ask the store at its end: a sink, or the sinks of a group. */
export interface StoreQuestions {
  /** True when a position is stored with the rows: then no event may be stored before one that is older. */
  readonly keepsPositions: boolean;
  /** The events of a batch that are stored although its write failed; rejects when the store cannot tell now. */
  alreadyStored(batch: TakenBatch, signal: AbortSignal): Promise<readonly Event[]>;
  /** True when the store answers, so that this failure is about the data; undefined when it cannot be asked. */
  answers(error: unknown, signal: AbortSignal): Promise<boolean | undefined>;
}

/** Failures of these kinds are never about the data of a batch. */
const ofTheStore: ReadonlySet<string | undefined> = new Set(["TIMED_OUT", "NOT_ENDED", "SINK_NOT_STARTED"]);

/** False for a failure that says by itself that the store is away or busy. */
export function mayBeAboutData(error: unknown): boolean {
  return !ofTheStore.has(codeOf(error)) && retryAfterOf(error) === undefined;
}

/** The same for failures that differ only in numbers, such as the number of events or a process id. */
export function kindOfFailure(error: unknown): string {
  return `${codeOf(error)} ${reasonOf(error).replaceAll(/\d+/g, "#")}`;
}

/**
 * True when a stored position does not belong to this channel, or another agent has moved it. Then neither the data nor
 * the store is the reason: nothing may be written by any sink before an operator has decided.
 */
export function isPositionFault(error: unknown): boolean {
  const code = codeOf(error);
  return code === positionFaults.foreign || code === positionFaults.conflict;
}
