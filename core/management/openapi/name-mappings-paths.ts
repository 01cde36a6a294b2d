import { answer, failure, type Operation, operation, type Paths, schemaRef } from "./operation.js";

const invalidFile = failure("The name mappings file is not valid; repair or remove it.");
const all = answer("All mappings there are now.", schemaRef("NameMappings"));

function editing(summary: string): Operation {
  return operation({
    summary,
    requestBody: { required: true, content: { "application/json": { schema: schemaRef("NameMappingsInput") } } },
    responses: { "200": all, "400": failure("The mappings are wrong."), "409": invalidFile },
  });
}

/** Name mappings. */
export const nameMappingsPaths: Paths = {
  "/v1/namemappings": {
    get: operation({ summary: "Shows the name mappings.", responses: { "200": all, "409": invalidFile } }),
    post: editing("Adds those mappings of the payload that are absent."),
    put: editing("Updates those mappings of the payload that are present."),
    delete: editing("Deletes those mappings of the payload that are present."),
  },
};
