const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;
const time = { type: "string", format: "date-time" } as const;

function record(properties: Readonly<Record<string, object>>): object {
  return { type: "object", required: Object.keys(properties), properties };
}

function listOf(properties: Readonly<Record<string, object>>): object {
  return { type: "array", items: record({ name: text, status: text, setup_time: time, ...properties }) };
}

const success = { const: "true" } as const;

const scope = record({
  incomingTransactions: count,
  incomingTransactionRequestSize: count,
  incomingTransactionResponseSize: count,
  incomingTransactionError: count,
  serviceTime: { type: "number", minimum: 0, description: "Mean milliseconds from reception to the end of a write." },
  outgoingTransactions: count,
  outgoingTransactionRequestSize: count,
  outgoingTransactionResponseSize: count,
  outgoingTransactionError: count,
});

const obstacle = record({ component: text, reason: text, since: time });

const appender = record({ name: text, layout: text });

const service = record({ subservs: { type: "object", additionalProperties: scope }, sum: scope });

const deadLetter = {
  type: "object",
  required: ["id", "time", "sink", "state", "reason", "message", "attempts"],
  properties: {
    id: text,
    time: text,
    sink: text,
    state: { enum: ["waiting", "replaying"] },
    reason: { enum: ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"] },
    code: text,
    message: text,
    attempts: count,
    replays: count,
    service: text,
    servicePath: text,
    entityId: text,
    entityType: text,
    table: text,
    event: { type: "object" },
  },
} as const;

/** The schemas that operations refer to. */
export const schemas = {
  Success: record({ success }),
  Result: record({ success, result: {} }),
  Failure: {
    type: "object",
    required: ["success"],
    properties: { success: { const: "false" }, error: text, result: {} },
    anyOf: [{ required: ["error"] }, { required: ["result"] }],
  },
  Version: record({ success, version: text }),
  Statistics: record({
    success,
    stats: record({
      sources: listOf({ num_received_events: count, num_processed_events: count, num_refused_events: count }),
      channels: listOf({
        num_events: count,
        num_puts_ok: count,
        num_puts_failed: count,
        num_takes_ok: count,
        num_takes_failed: count,
      }),
      sinks: listOf({ num_processed_events: count, num_persisted_events: count }),
      dead_letters: {
        type: "array",
        items: record({
          sink: text,
          num_waiting: count,
          num_replaying: count,
          num_permanent: count,
          num_retries_exhausted: count,
          num_crashed_the_agent: count,
          num_stopped: count,
          bytes: count,
          num_deleted: count,
        }),
      },
    }),
  }),
  Verification: record({
    success,
    verification: record({
      ok: { type: "boolean" },
      channels: { type: "array", items: { type: "object" } },
      tables: { type: "array", items: record({ sink: text, table: text, rows: count }) },
      differences: { type: "array", items: text },
      unknown: { type: "array", items: text },
      notes: { type: "array", items: text },
    }),
  }),
  Metrics: record({ services: { type: "object", additionalProperties: service }, sum: service }),
  NotReady: {
    type: "object",
    required: ["status", "obstacles"],
    properties: {
      status: text,
      obstacles: { type: "array", items: obstacle },
      warnings: { type: "array", items: obstacle },
    },
  },
  Endpoint: {
    type: "object",
    required: ["host", "port", "ssl"],
    properties: {
      host: text,
      port: { type: ["string", "integer"] },
      ssl: { enum: ["true", "false", true, false] },
      xauthtoken: { type: "string", description: "Sent as X-Auth-Token; required to delete." },
    },
  },
  Appender: record({ success, appender: { type: "array", items: appender } }),
  Appenders: record({ success, appenders: { type: "array", items: appender } }),
  Logger: record({ success, logger: { type: "array", items: record({ name: text }) } }),
  Loggers: record({ success, loggers: { type: "array", items: record({ name: text, level: text }) } }),
  AppenderInput: {
    type: "object",
    required: ["appender", "pattern"],
    properties: {
      appender: { type: "object", required: ["name"], properties: { name: text, class: text } },
      pattern: {
        type: "object",
        required: ["ConversionPattern"],
        properties: { layout: text, ConversionPattern: text },
      },
    },
  },
  LoggerInput: record({ logger: record({ name: text, level: text }) }),
  NameMappings: record({ success, serviceMapping: { type: "array", items: { type: "object" } } }),
  NameMappingsInput: record({ serviceMapping: { type: "array", items: { type: "object" } } }),
  DeadLetters: record({ success, count, deadletters: { type: "array", items: deadLetter } }),
  DeadLetter: record({ success, deadletter: deadLetter }),
  Dropped: record({ success, dropped: count, underway: count }),
  Replayed: record({ success, replayed: count, underway: count, refused: count }),
  ReplayRefused: record({
    success: { const: "false" },
    error: text,
    replayed: count,
    underway: count,
    refused: count,
    refusals: { type: "array", items: record({ sink: text, letters: count, reason: text }) },
  }),
  NewSubscription: record({ subscription: { type: "object" }, endpoint: { $ref: "#/components/schemas/Endpoint" } }),
} as const;
