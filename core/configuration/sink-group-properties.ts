import type { Schema } from "../sdk/index.js";

export const sinkGroupSettings = {
  sinks: {
    doc: "Names of the sinks of the group, separated by blanks or commas. All read from one channel; a sink is in one group at most.",
    format: "words",
  },
  positions_timeout: {
    doc: "Seconds that events left in a durable channel by a process before wait at a start for sinks that cannot say what they have stored already. After it the others go on, and rows of the last batch may be there twice. With an empty channel nothing waits.",
    format: "seconds",
    default: 30,
    max: 86_400,
  },
} as const satisfies Schema;

/** The keys of a sink group that the kernel reads, whatever its processor. */
export const sinkGroupProperties = {
  ...sinkGroupSettings,
  "processor.type": {
    doc: "Type of the sink processor that decides which sink gets the next batch; its own properties follow below `processor.`.",
    format: "text",
    default: "default",
  },
} as const satisfies Schema;
