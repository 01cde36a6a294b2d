import type { RunningSink } from "./component.js";

/** Milliseconds between two checks of a draining channel. */
const PAUSE = 100;
/** Milliseconds without progress after which a durable channel is not drained further. */
const NO_PROGRESS = 5_000;

/**
 * Stores what waits for a sink, within the grace period. Behind a durable channel only while something is stored: it ends
 * when a write fails, and ends a write that takes too long; what is left stays in the channel for the next start.
 */
export async function drain(running: RunningSink, sinks: readonly RunningSink[], grace: AbortSignal): Promise<void> {
  const { feed, channel } = running;
  if (!channel.durable) return await feed.drain(grace);
  const standing = new AbortController();
  const signal = AbortSignal.any([grace, standing.signal]);
  const fed = sinks.filter((one) => one.feed === feed);
  let size = channel.size;
  let waited = 0;
  let halted: Promise<void> | undefined;
  const check = () => {
    waited = channel.size === size ? waited + PAUSE : 0;
    size = channel.size;
    if (fed.every(isFailing)) halted ??= feed.halt(signal);
    if (waited >= NO_PROGRESS) standing.abort();
  };
  const timer = setInterval(check, PAUSE);
  try {
    check();
    await feed.drain(signal);
    await halted;
  } finally {
    clearInterval(timer);
  }
}

function isFailing({ sink, keeping }: RunningSink): boolean {
  return sink.health.failure !== undefined || keeping.failure !== undefined;
}
