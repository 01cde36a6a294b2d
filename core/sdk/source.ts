import type { Event } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";

/** What a source that is replaced at a reload leaves open for the one that takes its place, such as a listening socket. */
export interface Handover {
  /** Closes what was not taken over. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Hands the events of one notification to the channels. Resolves when every required channel has them as durably as
 * it promises. Rejects with code `CHANNEL_FULL` (retryable) when a channel has no room; then the notification is not
 * accepted, and the answer to the sender must say so.
 */
export type Emit = (events: readonly Event[]) => Promise<void>;

/**
 * Reads requests from outside and answers them. It hands each to `receive` of its context; a source that makes events
 * without a handler calls `emit`.
 *
 * A source that is replaced at a reload is stopped, and its successor started. With both optional members nothing is
 * closed in between: the source hands over what it has open, and a source of the same plugin that was not started yet
 * takes it over.
 */
export interface Source extends Lifecycle {
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

/** One request or message as a source received it. */
export interface InboundRequest {
  /** Upper case, for example `POST`. */
  readonly method: string;
  /** Path with its query string, exactly as sent, for example `/notify?subscriptionId=urn:1`. */
  readonly path: string;
  /** Names in lower case; of a repeated header the first value. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, not decoded. */
  readonly body: Uint8Array;
  readonly receivedAt: Date;
}

/** The result of a handler. */
export interface DecodedRequest {
  /** In the order of the notification; may be empty. */
  readonly events: readonly Event[];
  readonly service: string;
  readonly servicePath: string;
}

/** Turns a request into events. Pure: no I/O. Throws {@link RejectedRequest} for a request that it refuses. */
export interface Handler {
  decode(request: InboundRequest): DecodedRequest;
}
