import { eventHeaders } from "../ngsi/index.js";
import { isEvent } from "../sdk/event-fault.js";
import type { Event } from "../sdk/index.js";
import { type TraceFields, traceFieldsOf } from "../sdk/trace-context.js";

/** Fields that join a log line to one notification; absent where the event does not say. */
interface LogContext extends TraceFields {
  readonly corr?: string | undefined;
  readonly trans?: string | undefined;
  readonly srv?: string | undefined;
  readonly subsrv?: string | undefined;
}

/** The notification that all the events come from; nothing when there are several. */
export function logContext(events: readonly Event[]): LogContext {
  const [first] = events;
  const transaction = isEvent(first) ? first.headers[eventHeaders.transactionId] : undefined;
  if (first === undefined || transaction === undefined) return {};
  if (events.some((event) => !isEvent(event) || event.headers[eventHeaders.transactionId] !== transaction)) return {};
  const { headers } = first;
  return {
    corr: headers[eventHeaders.correlator],
    trans: transaction,
    srv: headers[eventHeaders.service],
    subsrv: headers[eventHeaders.servicePath],
    ...traceFieldsOf(headers),
  };
}
