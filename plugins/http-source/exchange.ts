import type { Delivery } from "deneb/sdk";
import type { Refusal } from "./refusal.js";

/** One request, however its connection is read, and the way back to its sender. */
export interface Exchange extends Pick<Delivery, "method" | "path" | "headers"> {
  /** The body; undefined when its sender went away. Throws, or rejects with, status 413 when it is too large. */
  body(most: number): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Tells the sender that the channels have its events. */
  accept(): void;
  /** Tells the sender why its request was not accepted. Returns the bytes of the content. */
  refuse(refusal: Refusal): number;
  /** Breaks the connection. */
  destroy(): void;
}
