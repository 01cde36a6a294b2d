/**
 * Parts for those who write a channel, `deneb/sdk/channel`: transactions over a queue, waiting for room and for
 * events, and the errors every channel throws. A channel need not use them; it has to pass the conformance suite of
 * `deneb/sdk/testing`.
 */
export {
  type Amount,
  type ChannelLimits,
  channelFull,
  channelFullOfBytes,
  channelStopped,
  notificationTooLarge,
  type TransactionLimit,
  transactionEnded,
  transactionReserved,
  transactionTooLarge,
} from "./channel-errors.js";
export type { EventQueue, QueuedEvent, QueuePositions, Reservation } from "./event-queue.js";
export { QueuePut } from "./queue-put.js";
export { QueueTake } from "./queue-take.js";
export { Room } from "./room.js";
export { SequenceRing } from "./sequence-ring.js";
export { type WaitingPut, WaitingPuts } from "./waiting-puts.js";
export { type WaitingTake, WaitingTakes } from "./waiting-takes.js";
