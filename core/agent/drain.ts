import type { RunningSink } from "./component.js";

/** Milliseconds between two checks of what a draining channel holds. */
const PAUSE = 500;
/** Milliseconds without progress after which a durable channel is not drained further. */
const NO_PROGRESS = 5_000;

/**
 * Stores what waits for a sink, within the grace period. Behind a durable channel only while something is stored: what is
 * left stays in the channel for the next start.
 */
export async function drain({ feed, channel }: RunningSink, grace: AbortSignal): Promise<void> {
  if (!channel.durable) return await feed.drain(grace);
  const standing = new AbortController();
  let size = channel.size;
  let waited = 0;
  const timer = setInterval(() => {
    waited = channel.size === size ? waited + PAUSE : 0;
    size = channel.size;
    if (waited >= NO_PROGRESS) standing.abort();
  }, PAUSE);
  try {
    await feed.drain(AbortSignal.any([grace, standing.signal]));
  } finally {
    clearInterval(timer);
  }
}
