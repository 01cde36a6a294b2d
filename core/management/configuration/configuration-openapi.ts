import { answer, failure, operation, type Paths, queryParameter, schemaRef, text } from "../openapi.js";

const param = queryParameter("param", "The full key of a property.", text, true);
const value = queryParameter("value", "Its value; *** is refused.", text, true);
const shown = answer("The properties of the file, secrets masked.", schemaRef("Result"));
const responses = { "200": shown, "400": failure("The call is invalid, or no such file or property exists.") };
const changing = { ...responses, "409": failure("The file is not a valid properties file, or cannot be written.") };

const operations = {
  get: operation({
    summary: "Shows one property of the file of an agent, or all.",
    parameters: [queryParameter("param", "Without it all properties are shown.", text)],
    responses,
  }),
  post: operation({ summary: "Adds a property.", parameters: [param, value], responses: changing }),
  put: operation({ summary: "Changes or adds a property.", parameters: [param, value], responses: changing }),
  delete: operation({ summary: "Removes a property.", parameters: [param], responses: changing }),
};

/** The operations on files of agents; their path is the absolute path of the file. */
export const configurationPaths: Paths = {
  "/v1/admin/configuration/agent/{path}": operations,
  "/admin/configuration/agent/{path}": operations,
};
