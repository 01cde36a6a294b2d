import { codeOf, reasonOf, retryAfterOf, retryableOf, type Sender } from "./errors.js";
import type { InboundRequest } from "./source.js";

/** Every required channel has the events of the request. */
export interface Accepted {
  readonly accepted: true;
}

/** The request was not accepted, and why. Sources that speak HTTP answer with `status`, `headers` and `reason`. */
export interface Refused {
  readonly accepted: false;
  /** An HTTP status: 4xx when the request is at fault, 503 when the same request may be accepted later, else 500. */
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

/** What became of a request. */
export type Reception = Accepted | Refused;

/**
 * Answers a request that is refused, before the refusal is accounted. Returns the bytes of the content of the answer, or
 * undefined when the source keeps the request and hands it over again later: then nothing is accounted.
 */
export type Refuse = (refused: Refused) => number | undefined;

/**
 * Takes one request: its handler decodes it, the channels get the events, and the request is accounted, counted and
 * logged. Resolves to the answer for the sender; it does not reject because of an invalid request or a full channel.
 */
export type Receive = (request: InboundRequest, refuse?: Refuse) => Promise<Reception>;

/** A request that a source refused by itself, before it could be received: no token, too large, too many at once. */
export interface SourceRefusal extends Pick<Refused, "status" | "cause" | "reason"> {
  /** Bytes of the body that were read, and of the content of the answer; 0 when absent. */
  readonly requestBytes?: number;
  readonly responseBytes?: number;
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

function unexpected(cause: string): Refused {
  const reason = "The request could not be processed";
  return { accepted: false, status: 500, reason, cause, headers: {}, retryable: undefined, retryAfter: undefined };
}

function causeOf(code: string): string {
  return code.toLowerCase().replaceAll("_", "-");
}

function hasStatus(error: unknown): error is Error & { readonly status: number } {
  return error instanceof Error && "status" in error && typeof error.status === "number";
}

function texts(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
