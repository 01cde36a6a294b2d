import { count, text } from "../openapi.js";
import { sharedLogSchema } from "./shared-log-openapi.js";

const time = { type: "string", format: "date-time" } as const;
const flag = { type: "boolean" } as const;

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
  dead_letters: {
    type: "array",
    items: { type: "object", required: Object.keys(letters), properties: { ...letters, shared: flag } },
  },
} as const;

/** What the interface over several workers adds. */
export const workersSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["number", "state", "since", "receives"],
    properties: {
      number: count,
      state: { enum: ["starting", "running", "silent", "restarting", "stopping"] },
      pid: count,
      since: time,
      receives: flag,
      reason: text,
      received: count,
      stored: count,
    },
  },
} as const;

/** What `GET /v1/stats` answers in `stats`. */
export const statisticsSchema = {
  type: "object",
  required: Object.keys(components),
  properties: { ...components, workers: workersSchema },
};

function componentList(
  properties: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
): object {
  const common = { name: text, status: text, setup_time: time, ...properties };
  const items = { type: "object", required: Object.keys(common), properties: { ...common, ...optional } };
  return { type: "array", items };
}
