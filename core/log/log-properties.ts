import type { ConfigOf, PropertyFault, Schema } from "../sdk/index.js";

const SECONDS_OF_A_DAY = 86_400;

/** The properties of a channel over a log, to be spread into the schema of each engine. @beta */
export const logChannelProperties = {
  group: {
    doc:
      "Who reads: agents with the same group share the events of the log, each event goes to one of them; each group gets all. " +
      "Letters, digits, `.`, `_` and `-`.",
    format: "text",
    default: "deneb",
  },
  capacity: {
    doc: "The most events that wait in the log, as far as this agent knows, before puts are refused.",
    format: "count",
    default: 10_000_000,
    min: 1,
  },
  transactionCapacity: {
    doc: "The most events of one take, which are of one partition. A notification of more events goes in as a whole.",
    format: "count",
    default: 10_000,
    min: 1,
  },
  "keep-alive": {
    doc: "Seconds that a put waits for room, or for the log after the start, before it is refused; 0 refuses at once. For so long it also waits after the start until its sinks know what is stored, and is accepted then.",
    format: "seconds",
    default: 3,
    max: SECONDS_OF_A_DAY,
  },
  outcome_timeout: {
    doc:
      "Seconds for which a put waits that the log did not answer, so that nobody knows whether it is stored; then it is refused, and " +
      "may be stored. 0 refuses it at once.",
    format: "seconds",
    default: 60,
    max: 3600,
  },
  session_timeout: {
    doc:
      "Seconds without a report of an agent after which others take its partitions over. Nothing is stored twice when it is " +
      "only slow.",
    format: "seconds",
    default: 6,
    min: 1,
    max: 3600,
  },
  stall_timeout: {
    doc: "Seconds that a sink may hold a batch, or take nothing of what waits, before other agents get the partitions of this one.",
    format: "seconds",
    default: 15,
    min: 1,
    max: SECONDS_OF_A_DAY,
  },
  record_bytes: {
    doc: "The most bytes of events that are packed into one record of the log.",
    format: "count",
    default: 131_072,
    min: 1,
  },
  prefetch_bytes: {
    doc: "Bytes of events that are read ahead of the sink, of all partitions together.",
    format: "count",
    default: 16_777_216,
    min: 65_536,
  },
  trim: {
    doc: "Whether records that every group has stored are removed from the log.",
    format: "flag",
    default: true,
  },
  retired_groups: {
    doc: "Groups that will not read any more: the log is not kept for them.",
    format: "words",
    default: [],
  },
} as const satisfies Schema;

/** The values of these properties. @beta */
export type LogChannelConfig = ConfigOf<typeof logChannelProperties>;

/** What is wrong with these values, for `check` of the definition. @beta */
export function logChannelFaults({
  group,
  capacity,
  transactionCapacity,
}: LogChannelConfig): readonly PropertyFault<typeof logChannelProperties>[] {
  return [
    ...(/^[\w.-]{1,100}$/.test(group)
      ? []
      : [{ property: "group", reason: "must be 1 to 100 letters, digits, `.`, `_` and `-`" } as const]),
    ...(transactionCapacity <= capacity
      ? []
      : [{ property: "transactionCapacity", reason: `must not be above capacity, which is ${capacity}` } as const]),
  ];
}
