import type { Schema } from "../sdk/index.js";

/** The links of a source; its nested components are read by themselves. */
export const sourceSettings = {
  channels: { doc: "Names of the channels the source writes to, separated by blanks or commas.", format: "words" },
} as const satisfies Schema;

/** The keys of a source that the kernel reads, whatever its type. */
export const sourceProperties = {
  type: { doc: "Type of the source, or a class name that a plugin knows as another name for it.", format: "text" },
  ...sourceSettings,
  interceptors: {
    doc: "Names of the interceptors in the order of execution; each has its own type and properties below `interceptors.<name>.`.",
    format: "words",
    default: [],
  },
  "selector.type": {
    doc: "Type of the selector that chooses the channels of each event; its own properties follow below `selector.`.",
    format: "text",
    default: "replicating",
  },
} as const satisfies Schema;
