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
  time,
} from "../openapi.js";

/** A number; a text where there are several workers. */
const place = { anyOf: [count, text] } as const;
const sampled = answer("The sample, secrets masked.", schemaRef("Arrivals"));
const page = [
  queryParameter("after", "Only those that come later: the last of the answer before.", place),
  queryParameter("limit", "Maximum number of them; 100 by default, 500 at most.", count),
];
const wrong = failure("A parameter or a member is unknown or has an invalid value.");

/** The operations on the sample of what arrives. */
export const arrivalPaths: Paths = {
  "/v1/admin/arrivals": {
    get: operation({
      summary: "What arrived at the sources, while a sample is taken. Needs an admin token.",
      parameters: page,
      responses: { "200": sampled, "400": wrong },
    }),
    put: operation({
      summary: "Begins to take a sample of accepted and refused requests, for a bounded time.",
      parameters: page,
      requestBody: { required: false, content: { "application/json": { schema: schemaRef("ArrivalOptions") } } },
      responses: { "200": sampled, "400": wrong },
    }),
    delete: operation({
      summary: "Ends the sample and forgets it.",
      responses: { "200": answer("It is off.", record({ success, on: { const: false } })) },
    }),
  },
};

const ArrivalOptions = {
  type: "object",
  properties: {
    seconds: { type: "integer", minimum: 1, maximum: 3600, default: 300 },
    bytes: { type: "integer", minimum: 0, maximum: 16384, default: 2048, description: "Characters of each body." },
    result: { enum: ["all", "accepted", "refused"] },
    source: text,
    service: text,
    entity: { type: "string", description: "A part of the id of an entity." },
  },
  additionalProperties: false,
};

const arrival = record(
  { seq: count, time, source: text, result: { enum: ["accepted", "refused"] }, size: count },
  {
    worker: count,
    status: { type: "integer" },
    cause: text,
    reason: text,
    method: text,
    path: text,
    topic: text,
    service: text,
    service_path: text,
    content_type: text,
    headers: { type: "object", additionalProperties: text },
    entities: listOf(record({}, { id: text, type: text })),
    entity_count: count,
    body: text,
    body_cut: flag,
    body_binary: flag,
  },
);

/** The schemas that these operations refer to. */
export const arrivalSchemas = {
  ArrivalOptions,
  Arrivals: record(
    {
      success,
      on: flag,
      seen: record({ accepted: count, refused: count }),
      skipped: count,
      last: place,
      arrivals: listOf(arrival),
    },
    { until: time, filter: ArrivalOptions },
  ),
};
