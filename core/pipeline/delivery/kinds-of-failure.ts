import { codeOf, positionFaults, reasonOf, retryAfterOf } from "../../sdk/index.js";

/** Failures of these kinds are never about the data of a batch. */
const ofTheStore: ReadonlySet<string | undefined> = new Set(["TIMED_OUT", "NOT_ENDED", "SINK_NOT_STARTED"]);

/** False for a failure that says by itself that the store is away or busy. */
export function mayBeAboutData(error: unknown): boolean {
  return !ofTheStore.has(codeOf(error)) && retryAfterOf(error) === undefined;
}

const tooSlow: ReadonlySet<string | undefined> = new Set(["TIMED_OUT", "STATEMENT_TIMEOUT"]);

/** True if the write exceeded its time limit: a write of fewer events may not. */
export function tookTooLong(error: unknown): boolean {
  return tooSlow.has(codeOf(error));
}

/** A key that is the same for failures that differ only in numbers, such as a count of events or a process id. */
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
