import { type RequestHandler, type Response, Router } from "express";
import type { EditedText } from "../files/edited-text.js";
import { compileNameMappings, readNameMappingsFile } from "../ngsi/index.js";
import { type MappingNode, mappingsJson, nameMappingsText, readMappingsDocument } from "../ngsi/mappings/document.js";
import { addMappings, type MappingEdit, removeMappings, updateMappings } from "../ngsi/mappings/edits.js";
import { AgentError, codeOf, type Logger, reasonOf } from "../sdk/index.js";
import { fail, succeed } from "./envelope.js";
import { bodyOf } from "./request-text.js";

const messages = {
  malformed: "Parse error, malformed Json. Check it for errors",
  empty: "Given name mappings are null or empty",
} as const;

/** `/v1/namemappings`: the file that the name-mappings interceptor reads. Every answer shows all mappings there are. */
export function nameMappingsResource(text: EditedText, log: Logger): Router {
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
  router.post(path, editing(addMappings, refuseFaults));
  router.put(path, editing(updateMappings, refuseFaults));
  router.delete(
    path,
    editing(removeMappings, () => {}),
  );

  return router;
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
  if (body.trim() === "" || body.trim() === "null") throw refusal(messages.empty);
  try {
    return readMappingsDocument(body);
  } catch (error) {
    throw codeOf(error) === "MALFORMED_JSON" ? refusal(messages.malformed) : error;
  }
}

/** Nothing is stored of mappings that could not be used. */
function refuseFaults(given: readonly MappingNode[]): void {
  const [fault] = compileNameMappings(given).faults;
  if (fault !== undefined) throw refusal(`Invalid name mappings, ${fault}`);
}

function refusal(message: string): AgentError {
  return new AgentError("REFUSED", message, { retryable: false });
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

/** What is wrong with the request is 400, what is wrong with the file 409. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["REFUSED", 400],
  ["NOT_NAME_MAPPINGS", 400],
  ["NAME_MAPPINGS_FILE_NOT_VALID", 409],
]);
