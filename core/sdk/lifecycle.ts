/**
 * The lifecycle law. Every component obeys it and the agent relies on it.
 *
 * 1. Creating a component does no I/O, opens nothing, starts no timer.
 * 2. `start` may do I/O and may throw; when it throws, the agent stops what was started and ends with a message.
 *    A store that is merely away is no reason to throw: the component starts, says so in the log, and tries again
 *    when it is used. A start that hangs is told after a while, and the agent works without that source or sink; a
 *    channel is waited for.
 * 3. `stop` is safe before `start`, after a failed `start`, and when called twice. When its promise settles every
 *    loop, timer, socket and thread of the component has ended. The signal aborts when the grace period is over:
 *    what is not finished by then is given up.
 * 4. After `stop` nothing of the component is called.
 * 5. Channels start first, then sinks, then sources; sources stop first, then sinks (after draining their
 *    channels), then channels.
 */
export interface Lifecycle {
  start(): Promise<void>;
  stop(signal: AbortSignal): Promise<void>;
}
