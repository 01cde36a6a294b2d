import { type RequestHandler, type Response, Router } from "express";
import type { SourceNode } from "../configuration/topology.js";
import { type EditedText, editedFile, editedMemory } from "../files/edited-text.js";
import { compileNameMappings, readNameMappingsFile } from "../ngsi/index.js";
import { type MappingNode, mappingsJson, nameMappingsText, readMappingsDocument } from "../ngsi/mappings/document.js";
import { addMappings, type MappingEdit, removeMappings, updateMappings } from "../ngsi/mappings/edits.js";
import { AgentError, codeOf, type Logger, reasonOf } from "../sdk/index.js";
import { badRequest, fail, succeed } from "./answers.js";
import {
  answer as answerOf,
  failure,
  listOf,
  type Operation,
  operation,
  type Resource,
  record,
  schemaRef,
  success,
} from "./openapi.js";
import { bodyOf } from "./requests.js";

const messages = {
  malformed: "Parse error, malformed Json. Check it for errors",
  empty: "Given name mappings are null or empty",
} as const;

/** `/v1/namemappings`: the file that the name-mappings interceptor reads. Every answer holds all mappings. */
export function nameMappingsResource(text: EditedText, log: Logger): Resource {
  const router = Router({ caseSensitive: true });
  const path = "/v1/namemappings";

  router.get(path, async (_request, response) => {
    await answer(response, async () => fileOf(await text.read()).mappings);
  });

  const editing =
    (edit: MappingEdit, check: (given: readonly MappingNode[]) => void): RequestHandler =>
    async (request, response) => {
      await answer(response, async () => {
        const given = givenMappings(bodyOf(request));
        check(given);
        const mappings = await edited(text, edit, given);
        log.info({ operation: request.method, mappings: mappings.length }, "name mappings changed");
        return mappings;
      });
    };
  router.post(path, editing(addMappings, rejectInvalid));
  router.put(path, editing(updateMappings, rejectInvalid));
  router.delete(
    path,
    editing(removeMappings, () => {}),
  );

  return { router, paths, schemas };
}

async function edited(
  text: EditedText,
  edit: MappingEdit,
  given: readonly MappingNode[],
): Promise<readonly MappingNode[]> {
  return await text.edit((old) => {
    const { head, mappings } = fileOf(old);
    const result = edit(mappings, given);
    return { text: nameMappingsText({ head, mappings: result }), result };
  });
}

function fileOf(text: string | undefined) {
  try {
    return readNameMappingsFile(text ?? "");
  } catch (cause) {
    throw new AgentError("NAME_MAPPINGS_FILE_NOT_VALID", "reading the name mappings file (repair or remove it)", {
      cause,
      retryable: false,
    });
  }
}

function givenMappings(body: string): readonly MappingNode[] {
  if (body.trim() === "" || body.trim() === "null") throw badRequest(messages.empty);
  try {
    return readMappingsDocument(body);
  } catch (error) {
    throw codeOf(error) === "MALFORMED_JSON" ? badRequest(messages.malformed) : error;
  }
}

/** Throws for invalid mappings: none of them is stored. */
function rejectInvalid(given: readonly MappingNode[]): void {
  const [fault] = compileNameMappings(given).faults;
  if (fault !== undefined) throw badRequest(`Invalid name mappings, ${fault}`);
}

async function answer(response: Response, mappings: () => Promise<readonly MappingNode[]>): Promise<void> {
  try {
    succeed(response, { serviceMapping: mappingsJson(await mappings()) });
  } catch (error) {
    const status = statuses.get(codeOf(error) ?? "");
    if (status === undefined) throw error;
    fail(response, status, { error: reasonOf(error) });
  }
}

/** 400 for an invalid request, 409 for a file that is invalid, or cannot be read or written. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["NOT_NAME_MAPPINGS", 400],
  ["NAME_MAPPINGS_FILE_NOT_VALID", 409],
  ["FILE_NOT_READ", 409],
  ["FILE_NOT_WRITTEN", 409],
]);

/**
 * The name mappings of an agent: the file of its first name-mappings interceptor, or memory if it has none. A reload may
 * bring another file, so the sources are asked for at each call.
 */
export function nameMappingsOf(sources: () => readonly SourceNode[]): EditedText {
  const memory = editedMemory();
  // One for each file, so that calls change it one after the other.
  const files = new Map<string, EditedText>();
  const current = () => {
    const interceptors = sources().flatMap((source) => source.interceptors);
    const reader = interceptors.find(({ definition }) => definition.type === "name-mappings");
    const file = reader?.config["name_mappings_conf_file"];
    if (typeof file !== "string") return memory;
    const text = files.get(file) ?? editedFile(file);
    files.set(file, text);
    return text;
  };
  return { read: () => current().read(), edit: (change) => current().edit(change) };
}

const invalidFile = failure("The name mappings file is not valid, or cannot be read or written; repair or remove it.");
const all = answerOf("All mappings.", schemaRef("NameMappings"));

function documented(summary: string): Operation {
  return operation({
    summary,
    requestBody: { required: true, content: { "application/json": { schema: schemaRef("NameMappingsInput") } } },
    responses: { "200": all, "400": failure("The mappings are wrong."), "409": invalidFile },
  });
}

const paths = {
  "/v1/namemappings": {
    get: operation({ summary: "Shows the name mappings.", responses: { "200": all, "409": invalidFile } }),
    post: documented("Adds those mappings of the payload that are absent."),
    put: documented("Updates those mappings of the payload that are present."),
    delete: documented("Deletes those mappings of the payload that are present."),
  },
};

const mappingList = listOf({ type: "object" });
const schemas = {
  NameMappings: record({ success, serviceMapping: mappingList }),
  NameMappingsInput: record({ serviceMapping: mappingList }),
};
