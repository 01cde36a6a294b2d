import { counted } from "../counted.js";
import { AgentError } from "../errors.js";

/** How many events one transaction of a channel may hold. @beta */
export interface TransactionLimit {
  readonly channel: string;
  readonly most: number;
  /** A take that holds this number of bytes, or more, gets nothing more; absent: bytes do not count. */
  readonly mostBytes?: number;
}

/** The error of a transaction that is asked to hold more than it may. @beta */
export function transactionTooLarge({ channel, most }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_TOO_LARGE",
    `one transaction of channel "${channel}" holds at most ${counted(most, "event")}; raise its property "transactionCapacity"`,
    { retryable: false },
  );
}

/** The error of a transaction that is used after its end. @beta */
export function transactionEnded({ channel }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_ENDED",
    `using a transaction of channel "${channel}" after its commit or rollback`,
    { retryable: false },
  );
}

/** The error of an event that is put into a transaction whose room is already reserved. */
export function transactionReserved({ channel }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_RESERVED",
    `putting an event into a transaction of channel "${channel}" after its room was reserved`,
    { retryable: false },
  );
}

/** How much a channel holds and how long a put waits for room in it. @stable */
export interface ChannelLimits {
  readonly channel: string;
  /** The most events. */
  readonly capacity: number;
  /** The most bytes; absent: no limit. */
  readonly byteCapacity?: number;
  /** Seconds a put waits for room. */
  readonly waitSeconds: number;
}

/** What a put brings, or what a channel holds. @stable */
export interface Amount {
  readonly events: number;
  /** In the measure of the channel's byteCapacity. */
  readonly bytes: number;
}

/** The error of a put that found no room for its events in time. */
export function channelFull({ channel, capacity, waitSeconds }: ChannelLimits, count: number): AgentError {
  const wanted = `no room for ${counted(count, "event")} within ${waitSeconds} s, its capacity is ${capacity}`;
  return new AgentError("CHANNEL_FULL", `channel "${channel}" is full: ${wanted}`, { retryable: true });
}

/** The error of a put that found no room for its bytes in time. */
export function channelFullOfBytes({ channel, byteCapacity, waitSeconds }: ChannelLimits, bytes: number): AgentError {
  const wanted = `no room for ${bytes} bytes within ${waitSeconds} s, its byteCapacity is ${byteCapacity}`;
  return new AgentError("CHANNEL_FULL", `channel "${channel}" is full: ${wanted}`, { retryable: true });
}

/** The error of a put that does not fit into the channel even when it is empty. */
export function notificationTooLarge(limits: ChannelLimits, { events, bytes }: Amount): AgentError {
  const { channel, capacity, byteCapacity } = limits;
  const [size, limit, remedy] =
    events > capacity
      ? [counted(events, "event"), `capacity ${capacity}`, "capacity"]
      : [`${bytes} bytes`, `byteCapacity ${byteCapacity}`, "byteCapacity"];
  return new AgentError(
    "NOTIFICATION_TOO_LARGE",
    `a notification of ${size} is larger than channel "${channel}" with its ${limit}; raise its property "${remedy}"`,
    { retryable: false },
  );
}

/** The error of a call that came after the stop. @stable */
export function channelStopped(channel: string): AgentError {
  return new AgentError("CHANNEL_STOPPED", `using channel "${channel}", which has stopped`, { retryable: true });
}
