import type { BrokerAnswer, BrokerRequest } from "../broker/broker-client.js";
import type { Caller } from "./caller.js";
import type { Fields } from "./fields.js";
import type { Outcome } from "./outcome.js";

/** What differs between the APIs of brokers. */
export interface BrokerApi {
  /** Reads a subscription, refusing members of the wrong kind; the function it returns refuses the rest. */
  readonly check: (subscription: Fields | undefined) => () => void;
  readonly creation: (subscription: unknown, caller: Caller) => BrokerRequest;
  readonly created: (answer: BrokerAnswer) => Outcome;
  readonly deletion: (id: string, caller: Caller) => BrokerRequest;
  readonly deleted: (answer: BrokerAnswer) => Outcome;
  /** Undefined where subscriptions cannot be read. */
  readonly reading: Reading | undefined;
}

export interface Reading {
  readonly one: (id: string, caller: Caller) => BrokerRequest;
  readonly page: (window: PageWindow, caller: Caller) => BrokerRequest;
  /** Name of the header with the number of all subscriptions, in lower case. */
  readonly countHeader: string;
}

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}
