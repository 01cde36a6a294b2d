import { thrownCause } from "../sdk/causes.js";
import { describedFault, isPromise, outerFault } from "../sdk/event-fault.js";
import { frozenEvent } from "../sdk/frozen.js";
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
  /** Whether its plugin is one of others, whose events are frozen; false when absent. */
  readonly isHandlerOfOthers?: boolean;
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
    const made = judged(handler.decode(request));
    if (source.isHandlerOfOthers === true) for (const event of made.events) frozenEvent(event);
    return made;
  } catch (error) {
    const refused = refusedByHandler(error);
    const sender = senderOf(error) ?? unknownSender;
    if (refused.cause !== "handler-failed") return { error, refused, sender };
    return { error: handlerFailed(source, error), refused, sender };
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

/**
 * The refusal of what a source hands over in place of a request: no handler is to blame for it, and nothing may be stored of what cannot
 * be accounted. The message holds nothing of what was handed over.
 */
export function malformedRequest(name: string, request: InboundRequest): Refusal | undefined {
  const lacking = lackOf(Object(request));
  if (lacking === undefined) return undefined;
  const message = `source "${name}" handed over a request without ${lacking}; its plugin must be corrected`;
  const error = new AgentError("REQUEST_MALFORMED", message, { retryable: false });
  return { error, refused: refusedByHandler(error), sender: unknownSender };
}

function lackOf({ body, receivedAt, method, path, headers }: Partial<InboundRequest>): string | undefined {
  if (!(body instanceof Uint8Array)) return "a body of bytes";
  if (!(receivedAt instanceof Date)) return "a Date as receivedAt";
  if (typeof method !== "string" || typeof path !== "string") return "texts as method and path";
  return typeof headers === "object" && headers !== null ? undefined : "an object as headers";
}

/** What a refusal is accounted for that has no request. */
export function emptyRequest(receivedAt: Date): InboundRequest {
  return { method: "", path: "", headers: {}, body: new Uint8Array(), receivedAt };
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
