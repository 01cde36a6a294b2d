import { answer, failure, type Operation, operation, type Paths, queryParameter, schemaRef } from "./operation.js";

const transient = queryParameter("transient", "true (the default) for the running agent, false for the logging file.", {
  enum: ["true", "false"],
});

const invalidFile = failure("The logging file is not valid; repair or remove it.");

interface Kind {
  /** Lower case, for example `appender`. */
  readonly item: string;
  /** Name of the schema of a PUT or POST. */
  readonly input: string;
  /** Names of the schemas of the answers about one and about all. */
  readonly one: string;
  readonly all: string;
}

function operationsOf({ item, input, one, all }: Kind): Readonly<Record<string, Operation>> {
  const name = queryParameter("name", `Without it all ${item}s are meant.`, { type: "string" });
  const described = (summary: string, parameters: readonly object[], success: object, body: object = {}) =>
    operation({
      summary,
      parameters,
      ...body,
      responses: { "200": success, "400": failure("The call is wrong; result says why."), "409": invalidFile },
    });
  const requestBody = { required: true, content: { "application/json": { schema: schemaRef(input) } } };
  const done = answer("It is done.", schemaRef("Result"));
  const found = answer(`The ${item}, or all of them.`, { anyOf: [schemaRef(one), schemaRef(all)] });
  return {
    get: described(`Shows one ${item} or all.`, [name, transient], found),
    put: described(`Changes a ${item}, or adds it to the file.`, [transient], done, { requestBody }),
    post: described(`Adds a ${item} to the file; only with transient=false.`, [transient], done, { requestBody }),
    delete: described(`Removes one ${item} or all.`, [name, transient], done),
  };
}

/** Appenders and loggers. */
export const logPaths: Paths = {
  "/v1/admin/log/appenders": operationsOf({
    item: "appender",
    input: "AppenderInput",
    one: "Appender",
    all: "Appenders",
  }),
  "/v1/admin/log/loggers": operationsOf({ item: "logger", input: "LoggerInput", one: "Logger", all: "Loggers" }),
};
