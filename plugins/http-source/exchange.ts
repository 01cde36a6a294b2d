import type { InboundRequest } from "deneb/sdk";
import type { Refusal } from "./refusal.js";

/** One request, however its connection is read, and the way back to its sender. */
export interface Exchange extends Pick<InboundRequest, "method" | "path" | "headers"> {
  /** As far as it was read: empty for a request that is refused before. */
  readonly body: Uint8Array;
  /** Whether its sender went away. */
  readonly isGone: boolean;
  /** Tells the sender that the channels have its events. */
  accept(): void;
  /** Tells the sender why its request was not accepted. Returns the bytes of the content. */
  refuse(refusal: Refusal): number;
  /** Breaks the connection. */
  destroy(): void;
}
