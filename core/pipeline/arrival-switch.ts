import type { DecodedRequest, Event, InboundRequest, Refused, Sender, SourceRefusal } from "../sdk/index.js";

/** Looks at what arrives at sources. It does not throw. */
export interface ArrivalTaker {
  accepted(source: string, request: InboundRequest, decoded: DecodedRequest): void;
  refused(source: string, request: InboundRequest, refusal: ArrivalRefusal): void;
  /** A request that the source refused by itself. */
  turnedAway(source: string, refusal: SourceRefusal): void;
  /** Events that a source made without a handler; the promise is that of its call. */
  emitted(source: string, events: readonly Event[], emitting: Promise<void>): void;
}

export interface ArrivalRefusal extends Pick<Refused, "status" | "cause"> {
  readonly reason: string;
  readonly sender: Sender;
}

/** Where sources show what arrives. While nobody wants to see it there is no taker, and that is all that is looked at. */
export interface ArrivalSwitch {
  readonly taker: ArrivalTaker | undefined;
}

export const nobodyLooks: ArrivalSwitch = { taker: undefined };
