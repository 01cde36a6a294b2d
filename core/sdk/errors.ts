import { causesOf, isError, messageOf, withSystemNames } from "./causes.js";
import type { Event } from "./event.js";

/**
 * Events of a batch that failed: a list of them, or a map with the error of each. Always the objects of the batch, never
 * copies.
 * @stable
 */
export type FailedEvents = readonly Event[] | ReadonlyMap<Event, unknown>;

/** Options of {@link AgentError}; `cause` is the error that led to this one. */
export interface AgentErrorOptions extends ErrorOptions {
  /**
   * True when the same call may succeed later (the store is not available, the channel is full); false when it never will.
   * Required, because it decides: a sink's batch is retried, or its bad event becomes a dead letter.
   */
  readonly retryable: boolean;
  /** Milliseconds before which trying again is of no use, when the other side said so. */
  readonly retryAfter?: number;
  /**
   * Thrown by `Sink.persist`, true: the batch, or a part of it, may be stored nevertheless, as where the answer to a commit was lost. Behind
   * a durable channel none of its events becomes a dead letter, which would be stored once more when it is replayed, before
   * `SinkPositions.alreadyStored` has told whether it is stored.
   */
  readonly mayBeStored?: boolean;
  /**
   * Thrown by `Sink.persist`: these events failed, and **all others of the batch are stored**; those are not written again.
   * An event whose own error, or this one where that does not say, has `retryable: false` becomes a dead letter with its own
   * reason; the others are written again, alone. Absent: the whole batch failed. A sink with `positions.stored` names all
   * events of the batch or none: its position would cover the failed ones. A list that is empty or names another event is
   * an error of the sink (`FAILED_EVENTS_INVALID`), and the whole batch counts as failed. Thrown by
   * `SinkPositions.alreadyStored`: those of which the sink cannot tell.
   */
  readonly events?: FailedEvents | undefined;
}

/**
 * The error of the agent and of every plugin.
 *
 * The message starts in lower case and says what was being done, to which thing, with the offending value quoted and,
 * where it is known, what to do. It never holds a secret. Readers look at the properties `code` and `retryable`, not
 * at the class: two copies of the SDK may be loaded at once.
 * @stable
 */
export class AgentError extends Error {
  /** Upper-case name of the kind of failure, for example `CHANNEL_FULL` or `SINK_UNREACHABLE`. */
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  /** The events of a batch that failed; undefined when the error says nothing about single events. Not shown when it is printed. */
  declare readonly events: FailedEvents | undefined;
  /** See {@link AgentErrorOptions}; absent when the error does not say it. */
  declare readonly mayBeStored?: true;

  constructor(code: string, message: string, options: AgentErrorOptions) {
    super(message, options);
    this.name = "AgentError";
    this.code = code;
    // A plugin in JavaScript may leave out the options: then the error does not say whether to retry, and is retried.
    this.retryable = options?.retryable;
    this.retryAfter = options?.retryAfter;
    // Whoever prints the error must not print bodies.
    Object.defineProperty(this, "events", { value: options?.events });
    if (options?.mayBeStored === true) this.mayBeStored = true;
  }
}

/**
 * Codes of errors about stored positions. Neither the data nor the store is the reason, so the batch stays in its channel,
 * no other sink gets it, and it is tried again until an operator has decided.
 * @stable
 */
export const positionFaults = {
  /** `Channel.skipTo`: the position was not written by a run of this channel. */
  foreign: "POSITION_FOREIGN",
  /** `Sink.persist`: another agent has moved the position since this one read or wrote it. */
  conflict: "POSITION_CONFLICT",
} as const;

/** The service and service path of a request. @stable */
export interface Sender {
  readonly service: string;
  readonly servicePath: string;
}

/** A request that a handler refuses; the source answers with `status` (an HTTP status, 4xx) and the message. @stable */
export class RejectedRequest extends AgentError {
  readonly status: number;
  /** Header fields for the answer, for example `Allow`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Accounts the refusal under this sender, where the handler knows it. */
  readonly sender: Sender | undefined;
  /**
   * What kind of refusal it is, as the counters name it: a few lower-case words with hyphens out of a fixed set, for
   * example `content-type`. Never made of what was sent.
   */
  readonly kind: string;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    sender?: Sender,
    kind = "rejected",
  ) {
    super("DELIVERY_REJECTED", message, { retryable: false });
    this.status = status;
    this.headers = headers;
    this.sender = sender;
    this.kind = kind;
  }
}

/** The `retryable` property of any thrown value; undefined when it does not say. @stable */
export function retryableOf(error: unknown): boolean | undefined {
  const retryable = memberOf(error, "retryable");
  return typeof retryable === "boolean" ? retryable : undefined;
}

/** The `retryAfter` property of any thrown value, in milliseconds; undefined when it does not say. @stable */
export function retryAfterOf(error: unknown): number | undefined {
  const retryAfter = memberOf(error, "retryAfter");
  return typeof retryAfter === "number" && retryAfter >= 0 ? retryAfter : undefined;
}

/** True where any thrown value, or one of its causes, says that what failed may be stored. */
export function mayBeStored(error: unknown): boolean {
  for (const cause of causesOf(error)) if (memberOf(cause, "mayBeStored") === true) return true;
  return false;
}

/** The `events` property of any thrown value as it stands there; undefined when it has none. */
export function eventsOf(error: unknown): unknown {
  return memberOf(error, "events");
}

/** The `code` property of any thrown value; undefined when it has none. @stable */
export function codeOf(error: unknown): string | undefined {
  const code = memberOf(error, "code");
  return typeof code === "string" ? withSystemNames(code) : undefined;
}

/** Undefined also for a member of a plugin's error that throws when it is read. */
function memberOf(thrown: unknown, name: string): unknown {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  try {
    return Reflect.get(thrown, name);
  } catch {
    return undefined;
  }
}

/**
 * One line for logs and replies: the message of any thrown value followed by those of its causes. Of a message above 10,000
 * characters the rest is only counted.
 * @stable
 */
export function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (const cause of causesOf(error)) {
    const message = cut(messageOf(cause).trim());
    if (message !== "" && !messages.some((seen) => says(seen, message.replace(/\.$/u, "")))) messages.push(message);
  }
  // Never nothing: some errors have a code alone.
  if (messages.length === 0) return isError(error) ? (codeOf(error) ?? error.name) : nothingSaid(error);
  return inOneLine(messages.slice(0, MOST_MESSAGES).join(": "));
}

/** Whether a message has another one in it as words of its own: "read" is not said by "already". */
function says(message: string, other: string): boolean {
  for (let at = message.indexOf(other); at !== -1; at = message.indexOf(other, at + 1)) {
    if (!inWord(message, at) && !inWord(message, at + other.length)) return true;
  }
  return false;
}

/** Whether the characters on both sides of this place belong to one word. */
function inWord(text: string, at: number): boolean {
  return at > 0 && WITHIN_WORD.test(text.slice(at - 1, at + 1));
}

const WITHIN_WORD = /^[\p{L}\p{N}_]{2}$/u;

function nothingSaid(thrown: unknown): string {
  return codeOf(thrown) ?? `${thrown === undefined ? "undefined" : "an empty text"} was thrown`;
}

const MOST_MESSAGES = 5;
/** A client may quote a whole answer in its message; each dead letter and each line of a retry would have it. */
const LONGEST_MESSAGE = 10_000;

function cut(message: string): string {
  const more = message.length - LONGEST_MESSAGE;
  return more > 0 ? `${message.slice(0, LONGEST_MESSAGE)}... (${more} more characters)` : message;
}

/** By hand: an expression for blanks around a line break takes quadratic time on blanks elsewhere. */
function inOneLine(text: string): string {
  if (!text.includes("\n")) return text;
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}
