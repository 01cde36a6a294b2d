import { eventHeaders } from "../ngsi/index.js";
import type { Event } from "../sdk/index.js";

/** Fields that join a log line to one notification; absent where the event does not say. */
export interface LogContext {
  readonly corr?: string | undefined;
  readonly trans?: string | undefined;
  readonly srv?: string | undefined;
  readonly subsrv?: string | undefined;
}

/** The notification that all the events come from; nothing when there are several. */
export function logContext(events: readonly Event[]): LogContext {
  const [first] = events;
  const transaction = first?.headers[eventHeaders.transactionId];
  if (first === undefined || transaction === undefined) return {};
  if (events.some(({ headers }) => headers[eventHeaders.transactionId] !== transaction)) return {};
  const { headers } = first;
  return {
    corr: headers[eventHeaders.correlator],
    trans: transaction,
    srv: headers[eventHeaders.service],
    subsrv: headers[eventHeaders.servicePath],
  };
}
