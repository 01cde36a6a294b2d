import { count, text } from "../openapi.js";

const flag = { type: "boolean" } as const;
const time = { type: "string", format: "date-time" } as const;

const partition = {
  type: "object",
  required: ["partition", "mine", "exact", "lost"],
  properties: {
    partition: text,
    agent: text,
    mine: flag,
    waiting: count,
    exact: flag,
    oldest: time,
    appended: count,
    passed: count,
    lost: count,
  },
} as const;

const agent = {
  type: "object",
  required: ["run", "since", "partitions", "mine"],
  properties: { run: text, since: time, partitions: count, mine: flag },
} as const;

/** The log of a channel that agents share. */
export const sharedLogSchema = {
  type: "object",
  required: ["engine", "id", "group", "agents", "lost", "exact", "num_partitions", "num_unattended", "partitions"],
  properties: {
    engine: text,
    id: text,
    group: text,
    agents: { type: "array", items: agent },
    appended: count,
    stored: count,
    dead_lettered: count,
    filtered: count,
    lost: count,
    waiting: count,
    unaccounted: { type: "integer" },
    exact: flag,
    unreachable: text,
    num_partitions: count,
    num_unattended: count,
    partitions: { type: "array", items: partition },
  },
} as const;
