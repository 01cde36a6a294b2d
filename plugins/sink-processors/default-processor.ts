import type { SinkProcessor } from "deneb/sdk";

/** The only sink of its group, always. */
export function createDefaultProcessor(): SinkProcessor {
  return { order: (sinks) => sinks, succeeded: () => {}, failed: () => {} };
}
