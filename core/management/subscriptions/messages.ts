import { badRequest, type RefusedCall } from "../refused-call.js";

/** Names stand in messages as they are, without apostrophes. */
type Complaint = "is missing" | "is empty" | "has missing fields" | "has empty fields" | "invalid";

export function invalid(thing: "subscription" | "endpoint", field: string, complaint: Complaint): RefusedCall {
  return badRequest(`Invalid ${thing}, field ${field} ${complaint}`);
}

export function parameterError(complaint: "wrong" | "missing" | "empty", name: string): RefusedCall {
  return badRequest(`Parse error, ${complaint} parameter (${name}). Check it for errors`);
}

export const invalidVersion = "Parse error, invalid parameter (ngsi_version): Must be 1 or 2. Check it for errors";

/** A check of a subscription: whether it fails, and what is then said of which field. */
export type Check = readonly [fails: boolean, field: string, complaint: Complaint];

/** Throws the refusal of the first check that fails. */
export function refuseFirst(checks: readonly Check[]): void {
  const failing = checks.find(([fails]) => fails);
  if (failing !== undefined) throw invalid("subscription", failing[1], failing[2]);
}

export function missing(field: string, value: unknown): Check {
  return [value === undefined, field, "is missing"];
}

export function empty(field: string, text: string | undefined): Check {
  return [text === "", field, "is empty"];
}
