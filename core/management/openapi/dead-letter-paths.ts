import { answer, failure, operation, type Paths, queryParameter, schemaRef } from "./operation.js";

const path = "/v1/admin/deadletters";
const count = { type: "integer", minimum: 0 } as const;
const text = { type: "string" } as const;
const id = { name: "id", in: "path", required: true, schema: text } as const;
const unknown = failure("There is no such letter; it may be stored or dropped already.");
const dropped = answer("How many were dropped, and how many stay because they are on their way.", schemaRef("Dropped"));
const dryRun = queryParameter("dry_run", "true to say what would be replayed, and change nothing.", { enum: ["true"] });

const choice = [
  queryParameter("sink", "Only the letters of this sink.", text),
  queryParameter("service", "Only the letters of this service.", text),
  queryParameter("entity", "Only the letters of the entity with this id.", text),
  queryParameter("reason", "Only the letters of this reason.", {
    enum: ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"],
  }),
  queryParameter("since", "Only the letters that were kept at this time or later.", {
    type: "string",
    format: "date-time",
  }),
] as const;

const choosing = {
  "400": failure("A parameter is not known or has no such value, or nothing says which letters are meant."),
  "404": failure("Neither the agent nor a letter has such a sink."),
} as const;

const replays = {
  "200": answer("How many are on their way now, and how many were already.", schemaRef("Replayed")),
  "409": answer("Some were refused: the agent has no sink of that name.", schemaRef("ReplayRefused")),
  "503": answer("Some were refused: the channel of the sink has no room.", schemaRef("ReplayRefused")),
} as const;

/** Dead letters. */
export const deadLetterPaths: Paths = {
  [path]: {
    get: operation({
      summary: "Lists letters without their events, oldest first.",
      parameters: [
        ...choice,
        queryParameter("limit", "Most letters to list, 100 unless given, 10000 at most.", count),
        queryParameter("offset", "Letters to leave out at the beginning.", count),
      ],
      responses: { "200": answer("How many there are, and some of them.", schemaRef("DeadLetters")), ...choosing },
    }),
    delete: operation({
      summary: "Drops letters, and answers when they are gone from the disk.",
      parameters: [...choice, queryParameter("all", "true to drop the letters of all sinks.", { enum: ["true"] })],
      responses: { "200": dropped, ...choosing },
    }),
  },
  [`${path}/replay`]: {
    post: operation({
      summary: "Sends letters to their sinks again, all of them unless the query chooses some.",
      parameters: [...choice, dryRun],
      responses: { ...replays, ...choosing },
    }),
  },
  [`${path}/{id}`]: {
    get: operation({
      summary: "Shows one letter with its event. Needs an admin token.",
      parameters: [id],
      responses: { "200": answer("The letter.", schemaRef("DeadLetter")), "404": unknown },
    }),
    delete: operation({
      summary: "Drops one letter, and answers when it is gone from the disk.",
      parameters: [id],
      responses: { "200": dropped, "404": unknown },
    }),
  },
  [`${path}/{id}/replay`]: {
    post: operation({
      summary: "Sends one letter to its sink again.",
      parameters: [id, dryRun],
      responses: { ...replays, "404": unknown },
    }),
  },
};
