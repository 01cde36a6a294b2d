/** The channel must have room for this number of batches: the one being written, the next one, and what comes meanwhile. */
const BATCHES_OF_CHANNEL = 3;

/** The most events, and bytes, that one service may hold in a channel; undefined where nobody says. */
export interface ChannelRoom {
  readonly events?: number | undefined;
  readonly bytes?: number | undefined;
}

/** The most for which a batch from a channel waits; of a channel that does not say what it holds, the events of one take. */
export function worthWaitingFor(transactionCapacity: number, { events, bytes }: ChannelRoom) {
  return {
    events: events === undefined ? transactionCapacity : Math.max(1, Math.floor(events / BATCHES_OF_CHANNEL)),
    bytes: bytes === undefined ? Number.POSITIVE_INFINITY : bytes / BATCHES_OF_CHANNEL,
  };
}
