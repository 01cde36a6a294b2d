import { codeOf, positionFaults } from "../../sdk/index.js";

/**
 * True when a stored position does not belong to this channel, or another agent has moved it. Then neither the data nor
 * the store is the reason: nothing may be written by any sink before an operator has decided.
 */
export function isPositionFault(error: unknown): boolean {
  const code = codeOf(error);
  return code === positionFaults.foreign || code === positionFaults.conflict;
}
