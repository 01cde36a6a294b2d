import { count, record, schemaRef, success, text } from "../openapi.js";
import { sharedLogSchema } from "../statistics/shared-log-openapi.js";
import { workersSchema } from "../statistics/statistics-openapi.js";

const flag = { type: "boolean" } as const;
const texts = { type: "array", items: text } as const;
const time = { type: "string", format: "date-time" } as const;
const open = (properties: Readonly<Record<string, object>>, required: readonly string[] = []) => ({
  type: "object",
  ...(required.length === 0 ? {} : { required }),
  properties,
});
const byId = (items: object) => ({ type: "object", additionalProperties: items });

const scalar = { type: ["string", "number", "boolean"] } as const;
const setting = open(
  { name: text, value: { anyOf: [scalar, { type: "array", items: scalar }] }, masked: flag, default: flag },
  ["name", "value", "default"],
);

const component = open(
  {
    id: text,
    slot: text,
    kind: text,
    name: text,
    type: text,
    plugin: record({ origin: text, stability: text }),
    durable: flag,
    capacity: count,
    settings: { type: "array", items: setting },
    nested: { type: "array", items: schemaRef("TopologyComponent") },
  },
  ["kind", "name", "type", "plugin", "settings", "nested"],
);

const topology = record({
  agent: text,
  revision: count,
  components: { type: "array", items: schemaRef("TopologyComponent") },
  links: { type: "array", items: record({ from: text, to: text }) },
  groups: {
    type: "array",
    items: record({
      id: text,
      name: text,
      sinks: texts,
      settings: { type: "array", items: setting },
      processor: schemaRef("TopologyComponent"),
    }),
  },
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

const live = open(
  {
    status: text,
    setup_time: time,
    health: { enum: ["up", "degraded", "down"] },
    findings: { type: "array", items: finding },
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
  ["status", "setup_time", "health"],
);

/** The schemas of the topology and of the stream. */
export const liveSchemas = {
  TopologyComponent: component,
  Topology: record({ success, topology }),
  LiveDocument: open({
    time,
    interval_seconds: count,
    agent: open({
      name: text,
      started: time,
      revision: count,
      ready: flag,
      arrivals: { type: "object" },
      last_reload: { type: "object" },
      workers: workersSchema,
    }),
    components: byId(live),
    dead_letters: byId(
      open({ sink: text, waiting: count, replaying: count, bytes: count, oldest: time, shared: flag }, ["sink"]),
    ),
  }),
};
