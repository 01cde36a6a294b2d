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

/** Counts of a channel, in events. */
export class ChannelCounters {
  putsOk = 0;
  putsFailed = 0;
  takesOk = 0;
  takesFailed = 0;

  reset(): void {
    this.putsOk = 0;
    this.putsFailed = 0;
    this.takesOk = 0;
    this.takesFailed = 0;
  }
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
