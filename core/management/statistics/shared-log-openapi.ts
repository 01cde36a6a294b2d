import { count, flag, listOf, record, text, time } from "../openapi.js";

const partition = record(
  { partition: text, mine: flag, exact: flag, lost: count },
  { agent: text, waiting: count, oldest: time, appended: count, passed: count },
);

const agent = record({ run: text, since: time, partitions: count, mine: flag });

/** The log of a channel that agents share. */
export const sharedLogSchema = record(
  {
    engine: text,
    id: text,
    group: text,
    agents: listOf(agent),
    lost: count,
    exact: flag,
    num_partitions: count,
    num_unattended: count,
    partitions: listOf(partition),
  },
  {
    appended: count,
    stored: count,
    dead_lettered: count,
    filtered: count,
    waiting: count,
    unaccounted: { type: "integer" },
    unreachable: text,
  },
);
