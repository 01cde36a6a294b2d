/**
 * Parts for those who write a channel, `deneb/sdk/channel`: transactions over a queue, waiting for room and for events,
 * and the error of a channel that has stopped. A channel need not use them; it has to pass the conformance suite of
 * `deneb/sdk/testing`.
 */
export { atOnce } from "../at-once.js";
export {
  type Amount,
  type ChannelLimits,
  channelStopped,
  type TransactionLimit,
  transactionEnded,
  transactionTooLarge,
} from "./channel-errors.js";
export { CumulativeRelease } from "./cumulative-release.js";
export {
  type EventQueue,
  type QueuedEvent,
  type QueuePositions,
  type Reservation,
  SequenceRing,
  WaitingTakes,
} from "./event-queue.js";
export { QueuePut, QueueTake } from "./queue-transactions.js";
export { Room } from "./room.js";
export {
  type Claim,
  ServiceShares,
  type ShareLimits,
  type SharingConfig,
  sharingProperties,
} from "./service-shares.js";
export { ServiceTurns, serviceKey, Turns } from "./service-turns.js";
