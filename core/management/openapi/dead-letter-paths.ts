import { answer, failure, operation, type Paths, queryParameter, schemaRef } from "./operation.js";

const path = "/v1/admin/deadletters";
const count = { type: "integer", minimum: 0 } as const;
const sink = queryParameter("sink", "Only the letters of this sink.", { type: "string" });
const id = { name: "id", in: "path", required: true, schema: { type: "string" } } as const;
const unknown = failure("There is no such letter; it may be stored or dropped already.");
const dropped = answer("How many were dropped.", schemaRef("Dropped"));

const replays = {
  "200": answer("How many are on their way now, and how many were already.", schemaRef("Replayed")),
  "409": failure("The agent has no sink of that name."),
  "503": failure("The channel of the sink has no room."),
} as const;

/** Dead letters. */
export const deadLetterPaths: Paths = {
  [path]: {
    get: operation({
      summary: "Lists letters without their events, oldest first.",
      parameters: [sink, queryParameter("limit", "Most letters to list.", count), queryParameter("offset", "", count)],
      responses: {
        "200": answer("How many there are, and some of them.", schemaRef("DeadLetters")),
        "400": failure("limit or offset is no whole number."),
      },
    }),
    delete: operation({
      summary: "Drops the letters of one sink, or of all.",
      parameters: [sink, queryParameter("all", "true to drop those of all sinks.", { enum: ["true"] })],
      responses: { "200": dropped, "400": failure("Neither sink nor all=true is given.") },
    }),
  },
  [`${path}/replay`]: {
    post: operation({ summary: "Sends letters to their sinks again.", parameters: [sink], responses: replays }),
  },
  [`${path}/{id}`]: {
    get: operation({
      summary: "Shows one letter with its event.",
      parameters: [id],
      responses: { "200": answer("The letter.", schemaRef("DeadLetter")), "404": unknown },
    }),
    delete: operation({
      summary: "Drops one letter.",
      parameters: [id],
      responses: { "200": dropped, "404": unknown },
    }),
  },
  [`${path}/{id}/replay`]: {
    post: operation({
      summary: "Sends one letter to its sink again.",
      parameters: [id],
      responses: { ...replays, "404": unknown },
    }),
  },
};
