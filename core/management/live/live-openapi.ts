import { count, flag, listOf, record, schemaRef, success, text, texts, time } from "../openapi.js";
import { sharedLogSchema } from "../statistics/shared-log-openapi.js";
import { workersSchema } from "../statistics/statistics-openapi.js";

const byId = (items: object) => ({ type: "object", additionalProperties: items });

const scalar = { type: ["string", "number", "boolean"] } as const;
const setting = record({ name: text, value: { anyOf: [scalar, listOf(scalar)] }, default: flag }, { masked: flag });

const component = record(
  {
    kind: text,
    name: text,
    type: text,
    plugin: record({ origin: text, stability: text }),
    settings: listOf(setting),
    nested: listOf(schemaRef("TopologyComponent")),
  },
  { id: text, slot: text, durable: flag, capacity: count },
);

const topology = record({
  agent: text,
  revision: count,
  components: listOf(schemaRef("TopologyComponent")),
  links: listOf(record({ from: text, to: text })),
  groups: listOf(
    record({
      id: text,
      name: text,
      sinks: texts,
      settings: listOf(setting),
      processor: schemaRef("TopologyComponent"),
    }),
  ),
});

const rate = { type: "number", minimum: 0 } as const;
const finding = record({ state: text, reason: text, since: time });
const ledger = record({
  received: count,
  stored: count,
  dead_lettered: count,
  filtered: count,
  uncounted: count,
  lost: count,
});

const live = record(
  { status: text, setup_time: time, health: { enum: ["up", "degraded", "down"] } },
  {
    findings: listOf(finding),
    accepted: count,
    refused: count,
    in: count,
    out: count,
    processed: count,
    stored: count,
    dead_lettered: count,
    accepted_per_second: rate,
    refused_per_second: rate,
    in_per_second: rate,
    out_per_second: rate,
    processed_per_second: rate,
    stored_per_second: rate,
    dead_lettered_per_second: rate,
    events: count,
    capacity: count,
    bytes: count,
    oldest: time,
    oldest_exact: flag,
    seconds_until_full: rate,
    ledger,
    log: sharedLogSchema,
  },
);

/** The schemas of the topology and of the stream. */
export const liveSchemas = {
  TopologyComponent: component,
  Topology: record({ success, topology }),
  LiveDocument: record(
    {},
    {
      time,
      interval_seconds: count,
      agent: record(
        {},
        {
          name: text,
          started: time,
          revision: count,
          ready: flag,
          arrivals: { type: "object" },
          last_reload: { type: "object" },
          workers: workersSchema,
        },
      ),
      components: byId(live),
      dead_letters: byId(
        record({ sink: text }, { waiting: count, replaying: count, bytes: count, oldest: time, shared: flag }),
      ),
    },
  ),
};
