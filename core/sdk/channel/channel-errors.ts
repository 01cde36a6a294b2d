import { AgentError } from "../errors.js";

/** How many events one transaction of a channel may hold. */
export interface TransactionLimit {
  readonly channel: string;
  readonly most: number;
}

/** The error of a transaction that is asked to hold more than it may. */
export function transactionTooLarge({ channel, most }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_TOO_LARGE",
    `one transaction of channel "${channel}" holds at most ${most} events; raise its property "transactionCapacity"`,
  );
}

/** The error of a transaction that is used after its end. */
export function transactionEnded({ channel }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_ENDED",
    `using a transaction of channel "${channel}" after its commit or rollback`,
  );
}

/** How much a channel holds and how long a put waits for room in it. */
export interface ChannelLimits {
  readonly channel: string;
  readonly capacity: number;
  /** Seconds a put waits for room. */
  readonly patience: number;
}

/** The error of a put that found no room in time. */
export function channelFull({ channel, capacity, patience }: ChannelLimits, count: number): AgentError {
  const events = count === 1 ? "1 event" : `${count} events`;
  return new AgentError(
    "CHANNEL_FULL",
    `channel "${channel}" is full: no room for ${events} within ${patience} s, its capacity is ${capacity}`,
    { retryable: true },
  );
}

/** The error of a call that came after the stop. */
export function channelStopped(channel: string): AgentError {
  return new AgentError("CHANNEL_STOPPED", `using channel "${channel}", which has stopped`, { retryable: true });
}
