import {
  answer,
  count,
  failure,
  flag,
  listOf,
  operation,
  type Paths,
  queryParameter,
  record,
  schemaRef,
  success,
  text,
  texts,
  time,
} from "../openapi.js";

const path = "/v1/admin/deadletters";
const id = { name: "id", in: "path", required: true, schema: text } as const;
const unknown = failure("There is no such dead letter; it may have been stored or dropped already.");
const dropped = answer(
  "The number of dropped dead letters, and of those that were not dropped because their replay is in progress.",
  schemaRef("Dropped"),
);
const dryRun = queryParameter("dry_run", "true to report what would be replayed without changing anything.", {
  enum: ["true", "false"],
});

const choice = [
  queryParameter("sink", "Only the dead letters of this sink.", text),
  queryParameter("service", "Only the dead letters of this service.", text),
  queryParameter("entity", "Only the dead letters of the entity with this id.", text),
  queryParameter("type", "Only the dead letters of entities of this type.", text),
  queryParameter("code", "Only the dead letters whose error has this code.", text),
  queryParameter("text", "Only the dead letters whose message holds this text, in any letter case.", text),
  queryParameter("reason", "Only the dead letters of this reason.", {
    enum: ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"],
  }),
  queryParameter("since", "Only the dead letters that were kept at this time or later.", time),
  queryParameter("until", "Only the dead letters that were kept at this time or earlier.", time),
] as const;

const ids = {
  description: "Of the chosen dead letters only these.",
  content: { "application/json": { schema: schemaRef("DeadLetterIds") } },
} as const;
const examples = queryParameter(
  "explain",
  "With dry_run: adds a plan, with what the sinks would do with the first letter of this number of groups, at most 20.",
  count,
);

const choosing = {
  "400": failure("A parameter is unknown or has an invalid value, or no parameter selects dead letters."),
  "404": failure("Neither the agent nor a dead letter has a sink of that name."),
} as const;

const replays = {
  "200": answer(
    "The number of dead letters whose replay was started, and of those whose replay was in progress already.",
    schemaRef("Replayed"),
  ),
  "409": answer("Some were not replayed: the agent has no sink of that name.", schemaRef("ReplayRefused")),
  "503": answer("Some were not replayed: the channel of the sink has no room.", schemaRef("ReplayRefused")),
} as const;

/** The operations on dead letters. */
export const deadLetterPaths: Paths = {
  [path]: {
    get: operation({
      summary: "Lists dead letters without their events, oldest first.",
      parameters: [
        ...choice,
        queryParameter("limit", "Maximum number of dead letters in the list; 100 by default, 10000 at most.", count),
        queryParameter("offset", "Number of dead letters to skip at the beginning.", count),
      ],
      responses: {
        "200": answer("The number of dead letters that match, and a page of them.", schemaRef("DeadLetters")),
        ...choosing,
      },
    }),
    delete: operation({
      summary: "Drops dead letters. The answer is sent when they are deleted from the disk.",
      parameters: [
        ...choice,
        queryParameter("all", "true to drop the dead letters of all sinks.", { enum: ["true", "false"] }),
      ],
      requestBody: ids,
      responses: { "200": dropped, ...choosing },
    }),
  },
  [`${path}/replay`]: {
    post: operation({
      summary: "Replays dead letters to their sinks: those that the query selects, or all.",
      parameters: [...choice, dryRun, examples],
      requestBody: ids,
      responses: { ...replays, ...choosing },
    }),
  },
  [`${path}/{id}`]: {
    get: operation({
      summary: "Shows one dead letter with its event. Needs an admin token.",
      parameters: [id],
      responses: { "200": answer("The dead letter.", schemaRef("DeadLetter")), "404": unknown },
    }),
    delete: operation({
      summary: "Drops one dead letter. The answer is sent when it is deleted from the disk.",
      parameters: [id],
      responses: { "200": dropped, "404": unknown },
    }),
  },
  [`${path}/{id}/replay`]: {
    post: operation({
      summary: "Replays one dead letter to its sink.",
      parameters: [id, dryRun],
      responses: { ...replays, "404": unknown },
    }),
  },
};

/** The search. */
export const searchPaths: Paths = {
  [`${path}/search`]: {
    get: operation({
      summary: "Finds dead letters: sink after sink by name, of each the newest first.",
      parameters: [
        ...choice,
        queryParameter("limit", "Maximum number of dead letters; 50 by default, 500 at most.", count),
        queryParameter("cursor", "The next of the answer before, to go on.", text),
      ],
      responses: {
        "200": answer("A page of them; next is there when there may be more.", schemaRef("Found")),
        ...choosing,
      },
    }),
  },
};

const deadLetter = record(
  {
    id: text,
    time: text,
    sink: text,
    state: { enum: ["waiting", "replaying"] },
    reason: { enum: ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"] },
    message: text,
    attempts: count,
  },
  {
    code: text,
    replays: count,
    agent: text,
    service: text,
    servicePath: text,
    entityId: text,
    entityType: text,
    table: text,
    event: { type: "object" },
  },
);

const outlook = { enum: ["may-succeed", "fails-again", "dangerous"] } as const;
const planned = record({ reason: text, letters: count, outlook, why: text }, { code: text });

/** The schemas that these operations refer to. */
export const deadLetterSchemas = {
  DeadLetters: record({ success, count, deadletters: listOf(deadLetter) }, { missing: texts }),
  DeadLetter: record({ success, deadletter: deadLetter }),
  Dropped: record({ success, dropped: count, underway: count }),
  ReplayPlan: record({
    complete: flag,
    sinks: listOf(
      record(
        { sink: text, letters: count, exists: flag, groups: listOf(planned) },
        { health: text, findings: texts, room: count },
      ),
    ),
    examples: listOf(record({ id: text, sink: text, outlook }, { explanation: { type: "object" }, failure: text })),
  }),
  DeadLetterIds: record({ ids: { type: "array", items: text, minItems: 1, maxItems: 1000 } }),
  Replayed: record({ success, replayed: count, underway: count, refused: count }, { plan: schemaRef("ReplayPlan") }),
  ReplayRefused: record({
    success: { const: "false" },
    error: text,
    replayed: count,
    underway: count,
    refused: count,
    refusals: listOf(record({ sink: text, letters: count, reason: text })),
  }),
};

/** The schema of the search. */
export const searchSchemas = {
  Found: record({ success, deadletters: listOf(deadLetter), complete: flag }, { next: text, missing: texts }),
};
