import type { Event } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";

/**
 * Hands the events of one notification to the channels. Resolves when every required channel has them as durably as
 * it promises. Rejects with code `CHANNEL_FULL` (retryable) when a channel has no room; then the notification is not
 * accepted and the sender must be told so.
 */
export type Emit = (events: readonly Event[]) => Promise<void>;

/** Receives notifications from outside and emits events. Slots and emit come through its context. */
export type Source = Lifecycle;

/** One request as a source received it. */
export interface Delivery {
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

/** What a handler made of a delivery. */
export interface Decoded {
  /** In the order of the notification; may be empty. */
  readonly events: readonly Event[];
  readonly service: string;
  readonly servicePath: string;
}

/** Turns a delivery into events. Pure: no I/O. Throws {@link RejectedDelivery} for a delivery it refuses. */
export interface Handler {
  decode(delivery: Delivery): Decoded;
}
