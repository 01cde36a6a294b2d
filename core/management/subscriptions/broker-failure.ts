import { codeOf, reasonOf } from "../../sdk/index.js";
import type { Outcome } from "./outcome.js";

/** How a broker that could not be asked is told to the caller; undefined for any other error. */
export function brokerFailure(error: unknown): Outcome | undefined {
  const status = statuses.get(codeOf(error));
  return status === undefined ? undefined : { status, payload: { error: reasonOf(error) } };
}

const statuses: ReadonlyMap<string | undefined, number> = new Map([
  ["BROKER_NOT_ALLOWED", 403],
  ["BROKER_UNREACHABLE", 502],
  ["BROKER_TIMEOUT", 504],
]);
