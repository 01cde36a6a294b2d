import { type Event, traceHeaders } from "deneb/sdk";

type Fields = Readonly<Record<string, string>>;

/** The trace that a request belongs to: that of its events if they have one, else that of the batch; none while tracing is off. */
export function traceContext(events: readonly Event[], batch: string | undefined): Fields {
  const [first] = events;
  const parent = first?.headers[traceHeaders.parent];
  const isShared = isSendable(parent) && events.every(({ headers }) => headers[traceHeaders.parent] === parent);
  if (!isShared) return batch === undefined ? {} : { [traceHeaders.parent]: batch };
  const state = first?.headers[traceHeaders.state];
  return { [traceHeaders.parent]: parent, ...(isSendable(state) ? { [traceHeaders.state]: state } : {}) };
}

/** A source of others may have written anything: a header that HTTP does not allow would hold back its event without limit. */
function isSendable(text: string | undefined): text is string {
  return text !== undefined && SENDABLE.test(text);
}

const SENDABLE = /^[\x20-\x7e]{1,512}$/;
