import type { Fault } from "./fault.js";

/** Where a fault is; members that are not known may be undefined. */
export interface Place {
  readonly key: string;
  readonly value?: string | undefined;
  readonly nearest?: string | undefined;
  readonly line?: number | undefined;
}

export function errorAt(place: Place, reason: string): Fault {
  return faultAt("error", place, reason);
}

export function warningAt(place: Place, reason: string): Fault {
  return faultAt("warning", place, reason);
}

export function noticeAt(place: Place, reason: string): Fault {
  return faultAt("notice", place, reason);
}

/** True when none of the faults keeps the agent from starting. */
export function startable(faults: readonly Fault[]): boolean {
  return faults.every((fault) => fault.severity !== "error");
}

function faultAt(severity: Fault["severity"], { key, value, nearest, line }: Place, reason: string): Fault {
  return {
    severity,
    key,
    ...(value === undefined ? {} : { value }),
    reason,
    ...(nearest === undefined ? {} : { nearest }),
    ...(line === undefined ? {} : { line }),
  };
}
