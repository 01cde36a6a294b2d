import { count, flag, listOf, record, text, time } from "../openapi.js";
import { sharedLogSchema } from "./shared-log-openapi.js";

const letters = {
  sink: text,
  num_waiting: count,
  num_replaying: count,
  num_permanent: count,
  num_retries_exhausted: count,
  num_crashed_the_agent: count,
  num_stopped: count,
  bytes: count,
  num_deleted: count,
} as const;

const components = {
  sources: componentList({ num_received_events: count, num_processed_events: count, num_refused_events: count }),
  channels: componentList(
    { num_puts_ok: count, num_puts_failed: count, num_takes_ok: count, num_takes_failed: count },
    { log: sharedLogSchema },
  ),
  sinks: componentList({ num_processed_events: count, num_persisted_events: count }),
  dead_letters: listOf(record(letters, { shared: flag })),
} as const;

/** What the interface over several workers adds. */
export const workersSchema = listOf(
  record(
    {
      number: count,
      state: { enum: ["starting", "running", "silent", "restarting", "stopping"] },
      since: time,
      receives: flag,
    },
    { pid: count, reason: text, received: count, stored: count },
  ),
);

/** What `GET /v1/stats` answers in `stats`. */
export const statisticsSchema = record(components, { workers: workersSchema });

function componentList(
  properties: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
): object {
  return listOf(record({ name: text, status: text, setup_time: time, ...properties }, optional));
}
