import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";

/**
 * Milliseconds that each address of a name but the last has to take a connection. Node's 250 are less than a handshake takes over a
 * satellite or to another continent: where the last address cannot be reached, as an IPv6 one without a route, no try succeeds.
 * More would keep a connection longer from the next address when one does not answer, and clients end their tries after 2 seconds.
 */
const ATTEMPT_MILLIS = 600;

/** Sets how long all connections of the process wait for one address of several. */
export function settleAttemptTime(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ATTEMPT_MILLIS);
}
