import {
  answer,
  failure,
  flag,
  listOf,
  operation,
  type Paths,
  record,
  schemaRef,
  success,
  text,
  texts,
} from "../openapi.js";

const reload = answer("What became of it: reloaded or unchanged.", schemaRef("ReloadOutcome"));

/** The operations on the configuration of the agent itself. */
export const runningConfigurationPaths: Paths = {
  "/v1/configuration": {
    get: operation({
      summary: "The properties file of the agent as it is now: its faults, and how it differs from what runs.",
      responses: { "200": answer("Faults and difference, secrets masked.", schemaRef("ConfigurationState")) },
    }),
  },
  "/v1/configuration/properties": {
    get: operation({
      summary: "The properties of the file of the agent, secrets masked.",
      responses: {
        "200": answer("The properties, in the order of the file.", schemaRef("ConfigurationProperties")),
        "409": failure("The file cannot be read."),
      },
    }),
  },
  "/v1/admin/reload": {
    post: operation({
      summary: "Reads the properties file again and goes to its configuration.",
      responses: {
        "200": reload,
        "202": answer("It has not ended within 60 seconds and goes on.", schemaRef("ReloadOutcome")),
        "409": answer("Refused or failed: the agent runs the previous configuration.", schemaRef("ReloadFailure")),
        "503": failure("The agent starts or stops."),
      },
    }),
  },
};

const fault = record(
  { severity: text, key: text, reason: text, text },
  { value: text, nearest: text, line: { type: "integer" } },
);
const faults = listOf(fault);
const outcome = { enum: ["reloaded", "unchanged", "refused", "failed", "running"] } as const;
const change = record({ setting: text }, { old: {}, new: {}, masked: flag });

const difference = record({
  added: texts,
  removed: texts,
  changed: listOf(record({ id: text, changes: listOf(change) })),
  reload: record({ replaced: texts, started: texts, stopped: texts, kept: texts }),
});

/** The schemas that these operations refer to. */
export const runningConfigurationSchemas = {
  ConfigurationState: record(
    { success, file: text, agents: texts, usable: flag, faults },
    {
      agent: text,
      same: flag,
      difference,
      last_reload: record({ time: text, ok: flag, outcome }, { started: texts, stopped: texts, reason: text }),
    },
  ),
  ConfigurationProperties: record({
    success,
    properties: listOf(record({ key: text, value: text }, { masked: flag })),
  }),
  ReloadOutcome: record({ success, outcome }, { started: texts, stopped: texts, faults }),
  ReloadFailure: record({ success: { const: "false" }, error: text, outcome }, { reason: text, faults }),
};
