import { answer, failure, operation, type Paths, record, schemaRef, success, text } from "../openapi.js";

const texts = { type: "array", items: text } as const;
const flag = { type: "boolean" } as const;
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
        "409": answer("Refused or failed: the agent runs the configuration of before.", schemaRef("ReloadFailure")),
        "503": failure("The agent starts or stops."),
      },
    }),
  },
};

const open = (properties: Readonly<Record<string, object>>, required: readonly string[]) => ({
  type: "object",
  required,
  properties,
});

const fault = open(
  { severity: text, key: text, value: text, reason: text, nearest: text, line: { type: "integer" }, text },
  ["severity", "key", "reason", "text"],
);
const faults = { type: "array", items: fault } as const;
const outcome = { enum: ["reloaded", "unchanged", "refused", "failed", "running"] } as const;
const change = open({ setting: text, old: {}, new: {}, masked: flag }, ["setting"]);

const difference = record({
  added: texts,
  removed: texts,
  changed: { type: "array", items: record({ id: text, changes: { type: "array", items: change } }) },
  reload: record({ replaced: texts, started: texts, stopped: texts, kept: texts }),
});

/** The schemas that these operations refer to. */
export const runningConfigurationSchemas = {
  ConfigurationState: open(
    {
      success,
      file: text,
      agent: text,
      agents: texts,
      usable: flag,
      same: flag,
      faults,
      difference,
      last_reload: open({ time: text, ok: flag, outcome, started: texts, stopped: texts, reason: text }, [
        "time",
        "ok",
        "outcome",
      ]),
    },
    ["success", "file", "agents", "usable", "faults"],
  ),
  ConfigurationProperties: record({
    success,
    properties: { type: "array", items: open({ key: text, value: text, masked: flag }, ["key", "value"]) },
  }),
  ReloadOutcome: open({ success, outcome, started: texts, stopped: texts, faults }, ["success", "outcome"]),
  ReloadFailure: open({ success: { const: "false" }, error: text, outcome, reason: text, faults }, [
    "success",
    "error",
    "outcome",
  ]),
};
