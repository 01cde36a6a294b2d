import { isError } from "./causes.js";
import { codeOf, reasonOf, retryAfterOf, retryableOf, type Sender } from "./errors.js";
import type { Event } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";
import type { RequestOrigin } from "./origin.js";
import type { Examined } from "./probe.js";

/**
 * What a source that is replaced at a reload leaves open for the one that takes its place, such as a listening socket.
 * @stable
 */
export interface Handover {
  /** Closes what was not taken over. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Hands the events of one notification to the channels. Resolves when every required channel has them as durably as
 * it promises. Rejects with code `CHANNEL_FULL` (retryable) when a channel has no room; then the notification is not
 * accepted, and the answer to the sender must say so. What is no list of events with a body that JSON keeps is rejected
 * with code `EVENT_MALFORMED` (not retryable).
 * @stable
 */
export type Emit = (events: readonly Event[]) => Promise<void>;

/**
 * Reads requests from outside and answers them. It hands each to `receive` of its context; a source that makes events
 * without a handler calls `emit`.
 *
 * A source that is replaced at a reload is stopped, and its successor started. With both optional members nothing is
 * closed in between: the source hands over what it has open, and a source of the same plugin that was not started yet
 * takes it over.
 * @stable
 */
export interface Source extends Lifecycle, Examined {
  /**
   * Called before `stop` when a successor can take over. What arrives from then on waits in what it returns; it resolves
   * when every request that had begun is answered, or the signal aborts. Undefined when there is nothing to hand over.
   */
  handOver?(signal: AbortSignal): Promise<Handover | undefined>;
  /**
   * Called before `start` with what a replaced source left, that of the source of the same name first. True when the
   * source goes on with it. It must not be changed before `start` succeeds: when `start` fails, another source may get it.
   */
  takeOver?(handover: Handover): boolean;
}

/** One request or message as a source received it. @stable */
export interface InboundRequest {
  /** Upper case, for example `POST`. */
  readonly method: string;
  /** Path with its query string, exactly as sent, for example `/notify?subscriptionId=urn:1`. */
  readonly path: string;
  /** Names in lower case; of a repeated header the first value. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, not decoded. */
  readonly body: Uint8Array;
  /** The topic of a message, for the log, which shows its first characters; absent for requests over HTTP. */
  readonly topic?: string;
  /** Where in the topic it stands, for the log, as `{ partition: 3, offset: 17 }`. @beta */
  readonly place?: Readonly<Record<string, number>>;
  readonly receivedAt: Date;
  /** For a source that reads a log: where the request stands there; its events get the header `originHeader`. @beta */
  readonly origin?: RequestOrigin;
  /** Over which it came; what waits for its turn when its sender has left is not decoded. Absent for requests that have none of their own. @beta */
  readonly connection?: RequestConnection;
}

/** A connection whose sender waits for the answer of one request. @beta */
export interface RequestConnection {
  /** Whether the sender has closed it. */
  readonly isGone: boolean;
}

/** The result of a handler. @stable */
export interface DecodedRequest {
  /** In the order of the notification; may be empty. */
  readonly events: readonly Event[];
  readonly service: string;
  readonly servicePath: string;
}

/**
 * Turns a request into events. Pure: no I/O, no promise. Throws {@link RejectedRequest} for a request that it refuses; when
 * it throws or returns anything else, the sender is answered with 500.
 * @stable
 */
export interface Handler {
  decode(request: InboundRequest): DecodedRequest;
  /**
   * The sender of a request by its headers alone, without its body; undefined when they do not tell. With it a
   * request of a service whose quota is used up is refused before it is decoded. @beta
   */
  senderOf?(request: InboundRequest): Sender | undefined;
}

/** Every required channel has the events of the request. @stable */
export interface Accepted {
  readonly accepted: true;
}

/**
 * The request was not accepted, and why. Sources that speak HTTP answer with `status`, `headers` and `reason`.
 * @stable
 */
export interface Refused {
  readonly accepted: false;
  /**
   * An HTTP status: 429 when its service sent, or has in a channel, more than it may; other 4xx when the request is at fault;
   * 503 when the same request may be accepted later, else 500.
   */
  readonly status: number;
  /** A sentence for the sender. */
  readonly reason: string;
  /** A few lower-case words with hyphens that name the kind of failure, for example `channel-full`. */
  readonly cause: string;
  /** Header fields for the answer, for example `Allow`. */
  readonly headers: Readonly<Record<string, string>>;
  /** True when the same request may be accepted later, false when it never will; undefined when that is not known. */
  readonly retryable: boolean | undefined;
  /** Milliseconds before which sending it again is of no use, when the channel said so. */
  readonly retryAfter: number | undefined;
}

/** What became of a request. @stable */
export type Reception = Accepted | Refused;

/**
 * Answers a request that is refused, before the refusal is accounted. Returns the bytes of the content of the answer, or
 * undefined when the source keeps the request and hands it over again later: then nothing is accounted.
 * @stable
 */
export type Refuse = (refused: Refused) => number | undefined;

/**
 * Takes one request: its handler decodes it, the channels get the events, and the request is accounted, counted and
 * logged. Resolves to the answer for the sender; it does not reject because of an invalid request or a full channel.
 * @stable
 */
export type Receive = (request: InboundRequest, refuse?: Refuse) => Promise<Reception>;

/**
 * A request that a source refused by itself, before it could be received: no token, too large, too many at once.
 * @stable
 */
export interface SourceRefusal extends Pick<Refused, "status" | "cause" | "reason"> {
  /** Bytes of the body that were read, and of the content of the answer; 0 when absent. */
  readonly requestBytes?: number;
  readonly responseBytes?: number;
  /** Where the request went, for the log, which shows the first characters: a topic, or a path; and its service. */
  readonly topic?: string | undefined;
  /** Where in the topic it stands, for the log. @beta */
  readonly place?: Readonly<Record<string, number>> | undefined;
  readonly path?: string | undefined;
  readonly service?: string | undefined;
}

/** The refusal for an error of a handler, which is pure: the same request would fail again. */
export function refusedByHandler(error: unknown): Refused {
  if (codeOf(error) !== "DELIVERY_REJECTED" || !hasStatus(error))
    return { ...unexpected("handler-failed"), retryable: false };
  const headers = "headers" in error ? texts(error.headers) : {};
  const cause = "kind" in error && typeof error.kind === "string" ? error.kind : "rejected";
  const { status } = error;
  return { accepted: false, status, reason: reasonOf(error), cause, headers, retryable: false, retryAfter: undefined };
}

/** The refusal for an error of the channels. Only the messages of errors of the agent are shown to a sender. */
export function refusedByChannels(error: unknown): Refused {
  const code = codeOf(error);
  if (code === undefined) return unexpected("internal-error");
  const common = { accepted: false, reason: reasonOf(error), cause: causeOf(code), headers: {} } as const;
  const retryAfter = retryAfterOf(error);
  const overQuota = ofOneService.get(code);
  if (overQuota !== undefined) return { ...common, status: 429, cause: overQuota, retryable: true, retryAfter };
  if (retryableOf(error) === true) return { ...common, status: 503, retryable: true, retryAfter };
  if (tooLarge.has(code)) return { ...common, status: 413, retryable: false, retryAfter };
  return unexpected(causeOf(code));
}

/** The sender of the request, if the error names it. */
export function senderOf(error: unknown): Sender | undefined {
  if (typeof error !== "object" || error === null || !("sender" in error)) return undefined;
  const { sender } = error;
  if (typeof sender !== "object" || sender === null || !("service" in sender) || !("servicePath" in sender)) {
    return undefined;
  }
  const { service, servicePath } = sender;
  return typeof service === "string" && typeof servicePath === "string" ? { service, servicePath } : undefined;
}

/** Codes of channels for a notification that never fits. */
const tooLarge: ReadonlySet<string> = new Set(["NOTIFICATION_TOO_LARGE", "TRANSACTION_TOO_LARGE"]);

/** The causes of refusals that say something about one service and nothing about the channels. */
const ofOneService: ReadonlyMap<string, string> = new Map([
  ["QUOTA_EXCEEDED", "quota"],
  ["CHANNEL_SHARE_FULL", "channel-share-full"],
]);

function unexpected(cause: string): Refused {
  const reason = "The request could not be processed";
  return { accepted: false, status: 500, reason, cause, headers: {}, retryable: undefined, retryAfter: undefined };
}

function causeOf(code: string): string {
  return code.toLowerCase().replaceAll("_", "-");
}

/** A status of an answer that accepts would lose the request: its sender does not send it again. */
function hasStatus(error: unknown): error is Error & { readonly status: number } {
  if (!isError(error) || !("status" in error)) return false;
  const { status } = error;
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
}

function texts(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
