import type { MessageRecord } from "@platformatic/kafka";
import type { Place } from "./directory.js";

/** Who writes; brokers drop what comes again with the same sequence. */
export interface Identity {
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

/** A message of a topic: key and headers are absent or given. */
export type Message = Pick<MessageRecord, "key" | "value" | "headers" | "timestamp">;

export interface Outgoing extends Place {
  /** Messages that stand one after another in the partition. */
  readonly messages: readonly Message[];
  readonly bytes: number;
  readonly identity: Identity;
  /** The number of the first message among those of this identity in this partition. */
  readonly sequence: number;
  /** Called when it leaves: from then on it may be written. */
  readonly leaves?: () => void;
}
