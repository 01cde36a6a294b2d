import type { Schema } from "../sdk/index.js";

export const sinkGroupSettings = {
  sinks: {
    doc: "Names of the sinks of the group, separated by blanks or commas. All read from one channel; a sink is in one group at most.",
    format: "words",
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
