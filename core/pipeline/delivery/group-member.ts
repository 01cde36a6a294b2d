import type { SinkCounters } from "../counters.js";
import type { Settled } from "./settlements.js";
import type { Stage, StoreQuestions } from "./stage.js";

/** A sink of a group; the agent starts and stops it. */
export interface GroupMember {
  readonly name: string;
  readonly sink: Stage & StoreQuestions;
  readonly counters: SinkCounters;
  /** Told of what this sink stored when it has left the channel. */
  readonly account?: { settled(events: Settled): void };
}
