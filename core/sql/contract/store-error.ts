import { AgentError, retryableOf } from "../../sdk/index.js";
import { type FaultReader, faultOf, type Place } from "./database-error.js";

/** What a driver threw, as one clear line that says where, and whether to try again. */
export function storeError(error: unknown, faults: FaultReader, place: Place): unknown {
  if (retryableOf(error) !== undefined) return error;
  const fault = faultOf(error);
  const retryable = faults.retryable(fault);
  const code = retryable ? "STORE_UNAVAILABLE" : "DATA_REFUSED";
  return new AgentError(code, faults.explain(fault, place), { cause: error, retryable });
}
