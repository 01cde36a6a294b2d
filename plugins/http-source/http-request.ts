import type { InboundRequest } from "deneb/sdk";
import type { Refusal } from "./responses.js";

/** One request and the way to respond to it, whichever parser read it. */
export interface HttpRequest extends Pick<InboundRequest, "method" | "path" | "headers"> {
  /** The part of the body that was read: empty for a request that is refused before its body. */
  readonly body: Uint8Array;
  /** Whether the sender closed the connection. */
  readonly isGone: boolean;
  /** Responds that the channels have the events. */
  accept(): void;
  /** Responds that the request is not accepted, and why. Returns the bytes of the content. */
  refuse(refusal: Refusal): number;
  /** Closes the connection without a response. */
  destroy(): void;
}
