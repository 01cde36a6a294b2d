import { outerFault } from "../sdk/event-fault.js";
import type { DecodedRequest, Event, Handler, InboundRequest, Receive, Reception, Sender } from "../sdk/index.js";
import { senderOf } from "../sdk/source.js";
import type { TraceFields } from "../sdk/trace-context.js";
import type { RequestTrace, Tracing } from "../tokens.js";

/** A request that is being received. */
interface Traced {
  readonly trace: RequestTrace;
  sender?: Sender;
  events?: readonly Event[];
}

/**
 * Follows the requests of one source around its receiver, which does not know of it: the handler marks the events, `receive`
 * ends the span. There is none while tracing is off.
 */
export class TracedRequests {
  readonly #source: string;
  readonly #tracing: Pick<Tracing, "request">;
  readonly #open = new WeakMap<InboundRequest, Traced>();

  constructor(source: string, tracing: Pick<Tracing, "request">) {
    this.#source = source;
    this.#tracing = tracing;
  }

  /** The handler, in a way that each event of a traced request carries its context. */
  handler(handler: Handler): Handler {
    return {
      senderOf: (request) => handler.senderOf?.(request),
      decode: (request) => {
        const traced = this.#open.get(request);
        return traced === undefined ? handler.decode(request) : decoded(handler, request, traced);
      },
    };
  }

  receive(receive: Receive): Receive {
    return (request, refuse) => {
      const trace = this.#tracing.request(this.#source, request);
      return trace === undefined ? receive(request, refuse) : this.#traced(receive, { request, refuse, trace });
    };
  }

  /** For a log line about a request that is being received. */
  fieldsOf(request: InboundRequest): TraceFields {
    return this.#open.get(request)?.trace.fields ?? {};
  }

  /** A request that its source keeps and hands over again has a span of the call that ends it, and none before. */
  async #traced(receive: Receive, { request, refuse, trace }: Received): Promise<Reception> {
    const traced: Traced = { trace };
    this.#open.set(request, traced);
    let isKept = false;
    const refused: typeof refuse =
      refuse &&
      ((refusal) => {
        const bytes = refuse(refusal);
        isKept = bytes === undefined;
        return bytes;
      });
    try {
      const reception = await receive(request, refused);
      if (!isKept) trace.ended(reception, traced);
      return reception;
    } catch (error) {
      trace.failed(error);
      throw error;
    } finally {
      this.#open.delete(request);
    }
  }
}

interface Received {
  readonly request: InboundRequest;
  readonly refuse: Parameters<Receive>[1];
  readonly trace: RequestTrace;
}

/** What is no list of events is left to the receiver, which refuses it. */
function decoded(handler: Handler, request: InboundRequest, traced: Traced): DecodedRequest {
  let found: DecodedRequest;
  try {
    found = handler.decode(request);
  } catch (error) {
    const sender = senderOf(error);
    if (sender !== undefined) traced.sender = sender;
    throw error;
  }
  if (typeof found !== "object" || found === null || outerFault(found.events) !== undefined) return found;
  const { service, servicePath } = found;
  if (typeof service === "string" && typeof servicePath === "string") traced.sender = { service, servicePath };
  const { headers } = traced.trace;
  const events = found.events.map((event) => ({ ...event, headers: { ...event.headers, ...headers } }));
  traced.events = events;
  return { ...found, events };
}
