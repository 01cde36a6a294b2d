import { thrownCause } from "../sdk/causes.js";
import { describedFault, isPromise, outerFault } from "../sdk/event-fault.js";
import {
  AgentError,
  codeOf,
  type DecodedRequest,
  type Handler,
  type InboundRequest,
  type Refused,
  type Sender,
} from "../sdk/index.js";
import { withOrigin } from "../sdk/origin.js";
import { refusedByHandler, senderOf } from "../sdk/source.js";

/** A source, and what reads its requests. */
export interface HandlerOfSource {
  /** The source. */
  readonly name: string;
  /** Undefined for a source without one. */
  readonly handler: Handler | undefined;
  /** Its type, for messages. */
  readonly handlerType?: string | undefined;
}

/** Why a request is refused. */
export interface Refusal {
  readonly error: unknown;
  readonly refused: Refused;
  readonly sender: Sender;
}

/** Whose request it was is known once the handler has read it. */
export const unknownSender: Sender = { service: "", servicePath: "/" };

/** What the handler makes of a request, or why it refuses it. Throws code `NO_HANDLER` for a source without one. */
export function decodedBy(source: HandlerOfSource, request: InboundRequest): DecodedRequest | Refusal {
  return originated(decoded(source, request), request);
}

function decoded(source: HandlerOfSource, request: InboundRequest): DecodedRequest | Refusal {
  const { name, handler } = source;
  if (handler === undefined) {
    const remedy = "name a handler in its slots, or call emit";
    throw new AgentError("NO_HANDLER", `receiving a request by source "${name}", which has no handler; ${remedy}`, {
      retryable: false,
    });
  }
  try {
    return judged(handler.decode(request));
  } catch (error) {
    const refused = refusedByHandler(error);
    const sender = senderOf(error) ?? unknownSender;
    if (refused.cause !== "handler-failed") return { error, refused, sender };
    return { error: requestFailed(name, request) ?? handlerFailed(source, error), refused, sender };
  }
}

/** What a handler returned, if it can be emitted and accounted; bodies and the values of headers are not looked at. */
function judged(decoded: DecodedRequest): DecodedRequest {
  const fault = faultOf(decoded);
  if (fault === undefined) return decoded;
  const message = `its decode returned ${fault}; its plugin must be corrected`;
  throw new AgentError("EVENT_MALFORMED", message, { retryable: false });
}

function faultOf(decoded: DecodedRequest): string | undefined {
  if (isPromise(decoded)) {
    // Its failure is nobody's news any more.
    decoded.then(undefined, () => undefined);
    return "a promise: decode must return the events at once";
  }
  if (typeof decoded !== "object" || decoded === null) return "no object with events, service and servicePath";
  const { events, service, servicePath } = decoded;
  const fault = outerFault(events);
  if (fault !== undefined) return `as events ${describedFault(fault)}`;
  if (typeof service !== "string") return "no text as service";
  return typeof servicePath === "string" ? undefined : "no text as servicePath";
}

/** A handler that got no request is not the one to blame. The message holds nothing of what was handed over. */
function requestFailed(name: string, request: Partial<InboundRequest>): AgentError | undefined {
  const faults = [
    [request.body instanceof Uint8Array, "a body of bytes"],
    [request.receivedAt instanceof Date, "a Date as receivedAt"],
    [typeof request.method === "string" && typeof request.path === "string", "texts as method and path"],
  ] as const;
  const lacking = faults.find(([isRight]) => !isRight);
  if (lacking === undefined) return undefined;
  const message = `source "${name}" handed over a request without ${lacking[1]}; its plugin must be corrected`;
  return new AgentError("REQUEST_MALFORMED", message, { retryable: false });
}

function handlerFailed({ name, handlerType = "without a name" }: HandlerOfSource, cause: unknown): AgentError {
  const decoding = `decoding a request by the handler "${handlerType}" of source "${name}"`;
  return new AgentError("HANDLER_FAILED", `${decoding}${statusText(cause)}`, {
    cause: thrownCause(cause),
    retryable: false,
  });
}

/** Of a refusal that is none. */
function statusText(error: unknown): string {
  if (codeOf(error) !== "DELIVERY_REJECTED") return "";
  const status = String(Reflect.get(Object(error), "status"));
  return `, which refuses it with status ${status}: it must be one of 400 to 599, and its plugin be corrected`;
}

/** What comes out of a log says where it was there. */
function originated<D extends DecodedRequest | Refusal>(decoded: D, { origin }: InboundRequest): D {
  if (origin === undefined || !("events" in decoded)) return decoded;
  return { ...decoded, events: withOrigin(decoded.events, origin) };
}
