/** Counts of a source, in notifications. */
export class SourceCounters {
  /** Received and attempted to be put into channels. */
  received = 0;
  /** Finally put into channels. */
  processed = 0;
  /** Events for which the selector chose no channel. */
  unrouted = 0;

  reset(): void {
    this.received = 0;
    this.processed = 0;
    this.unrouted = 0;
  }
}

interface ChannelCounts {
  putsOk: number;
  putsFailed: number;
  takesOk: number;
  takesFailed: number;
}

/** Counts of a channel, in events. */
export class ChannelCounters implements ChannelCounts {
  putsOk = 0;
  putsFailed = 0;
  takesOk = 0;
  takesFailed = 0;
  /** What was counted before the last reset. */
  #before: ChannelCounts = { putsOk: 0, putsFailed: 0, takesOk: 0, takesFailed: 0 };
  #earlier: ChannelCounters | undefined;

  /** Since the first channel of this name was made: neither a reset nor a replacement takes anything away. */
  get totals(): Readonly<ChannelCounts> {
    const own = added(this, this.#before);
    return this.#earlier === undefined ? own : added(own, this.#earlier.totals);
  }

  /** The channel replaces another one, which may still count; the one before that one has stopped. */
  follow(earlier: ChannelCounters): void {
    if (earlier.#earlier !== undefined) earlier.#before = added(earlier.#before, earlier.#earlier.totals);
    earlier.#earlier = undefined;
    this.#earlier = earlier;
  }

  reset(): void {
    this.#before = added(this, this.#before);
    this.putsOk = 0;
    this.putsFailed = 0;
    this.takesOk = 0;
    this.takesFailed = 0;
  }
}

function added(one: Readonly<ChannelCounts>, other: Readonly<ChannelCounts>): ChannelCounts {
  return {
    putsOk: one.putsOk + other.putsOk,
    putsFailed: one.putsFailed + other.putsFailed,
    takesOk: one.takesOk + other.takesOk,
    takesFailed: one.takesFailed + other.takesFailed,
  };
}

/** Counts of a sink, in events. */
export class SinkCounters {
  /** Taken from the channel and attempted; retries do not count again. */
  processed = 0;
  /** Finally stored. */
  persisted = 0;
  /** Abandoned and kept as dead letters. */
  deadLettered = 0;

  reset(): void {
    this.processed = 0;
    this.persisted = 0;
    this.deadLettered = 0;
  }
}
