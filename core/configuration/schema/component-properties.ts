import type { Schema } from "../../sdk/index.js";

/** The links of a source; its nested components are read by themselves. */
export const sourceSettings = {
  channels: { doc: "Names of the channels the source writes to, separated by blanks or commas.", format: "words" },
} as const satisfies Schema;

/** How many events a source accepts of one service. */
export const quotaSettings = {
  "quota.events_per_second": {
    doc: "Events per second, a notification without events counting as one, that the source accepts of one service; what is beyond it is answered 429. -1: no limit; 0: nothing is accepted, except of services in `quota.services`.",
    format: "integer",
    default: -1,
    min: -1,
    max: 999_999_999,
  },
  "quota.burst": {
    doc: "Events that a service may send at once after a pause. -1: ten times `quota.events_per_second`, at least 1.",
    format: "integer",
    default: -1,
    min: -1,
    max: 999_999_999,
  },
  "quota.services": {
    doc: "Quotas of single services, in any letter case: `quota.services.<service> = <events per second> [<burst>]`. -1: no limit for this service.",
    format: "map",
    default: {},
  },
  "quota.most_services": {
    doc: "Most services without an entry in `quota.services` that have a quota each; all further ones share one quota until the quota of another service is unused again. 0: all of them share one.",
    format: "count",
    default: 1000,
    max: 1_000_000,
  },
} as const satisfies Schema;

/** The keys of a source that the kernel reads, whatever its type. */
export const sourceProperties = {
  type: { doc: "Type of the source, or a class name that a plugin accepts as an alias.", format: "text" },
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
  ...quotaSettings,
} as const satisfies Schema;

/** What the kernel itself reads of a sink besides its type: its link and how the runner feeds it. */
export const sinkSettings = {
  channel: { doc: "Name of the channel the sink reads from. A sink has exactly one.", format: "text" },
  batch_size: {
    doc: "Number of events that triggers a write. It is not a maximum: when more events are waiting, the sink takes up to the channel's transactionCapacity at once; the rdb sink takes up to 1000 from a channel that is not durable.",
    format: "count",
    min: 1,
    default: 1,
  },
  batch_timeout: {
    doc: "Seconds from the first event of a batch until it is written even if it is not full.",
    format: "seconds",
    min: 1,
    default: 30,
  },
  batch_linger: {
    doc: "Milliseconds from the first event of an incomplete batch until it is written, at most batch_timeout: a short linger still fills batches under load and delays single events little. -1 leaves it to the sink: sinks that write rows to a database wait only under load, all others batch_timeout. Under load, while more than 500 events come in a second, a batch of such a sink, or with a linger above 0 of any, waits up to 20 milliseconds; 0 writes at once.",
    format: "integer",
    min: -1,
    default: -1,
    max: 86_400_000,
  },
  batch_ttl: {
    doc: "Number of retries after the first try of a failed write; 0 for none, -1 without limit. After the last one the events go to the dead letters. Where it is not set, a sink behind a durable channel (file, spillable) retries without limit.",
    format: "integer",
    min: -1,
    default: 10,
  },
  batch_retry_intervals: {
    doc: "Milliseconds before the first, second, ... retry, separated by blanks or commas; the last one repeats.",
    format: "millis-list",
    default: [5000],
  },
  persist_timeout: {
    doc: "Seconds one write, or one question what is stored, may take. After that it counts as failed and may be retried, and the sink is stopped and started again; 0 is no limit.",
    format: "seconds",
    default: 300,
    max: 86_400,
  },
} as const satisfies Schema;

/** The keys of a sink that the kernel reads, whatever its type. */
export const sinkProperties = {
  type: { doc: "Type of the sink, or a class name that a plugin accepts as an alias.", format: "text" },
  ...sinkSettings,
} as const satisfies Schema;

export const sinkGroupSettings = {
  sinks: {
    doc: "Names of the sinks of the group, separated by blanks or commas. All read from one channel; a sink is in one group at most.",
    format: "words",
  },
  positions_timeout: {
    doc: "Seconds that events left in a durable channel by an earlier process wait at a start for sinks that cannot report yet what they have stored. After that the other sinks continue, and rows of the last batch may be stored twice. With an empty channel there is no wait.",
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
