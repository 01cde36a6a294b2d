/** What feeds a sink. */
export interface Feed {
  /** Makes the gate of the channel wait for this feed; called before any feed starts. */
  join(): void;
  /** Does nothing after `drain` or `halt`. */
  start(): void;
  /** Stores what is left in the channel, then ends; leaves the rest in it when the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  /**
   * Waits for the write that is running, and for what is being kept as dead letters; false if the signal aborts first. The next
   * one leaves out what is erased.
   */
  idle(signal: AbortSignal): Promise<boolean>;
  /** Ends after the write that is running; what is not stored goes back into the channel. */
  halt(signal: AbortSignal): Promise<void>;
}
