import { type Request, type Response, Router } from "express";
import type { DeadLetterReplay, LetterChoice, ReplayResult } from "../agent/dead-letter-replay.js";
import { choiceNames, readChoice } from "../pipeline/dead-letter-choice.js";
import { subjectOf } from "../pipeline/dead-letter-subject.js";
import type { OpenLetter } from "../pipeline/dead-letters.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { fail, succeed } from "./envelope.js";
import { badRequest, RefusedCall } from "./refused-call.js";
import { parameterOf, parametersOf } from "./request-text.js";
import { adminOnly } from "./security/access.js";

/** Letters that are listed when the request does not say. */
const usualLimit = 100;
const largestLimit = 10_000;

const path = "/v1/admin/deadletters";
const ownParameters: ReadonlySet<string> = new Set([...choiceNames, "all", "limit", "offset", "dry_run"]);

/**
 * `GET /v1/admin/deadletters` lists, `GET .../{id}` shows one with its event, `POST .../replay` and
 * `POST .../{id}/replay` send letters to their sinks again, `DELETE` drops them. The query chooses which.
 */
export function deadLettersResource(deadLetterReplay: DeadLetterReplay): Router {
  const router = Router({ caseSensitive: true });
  router.get(path, async (request, response) => list(deadLetterReplay, request, response));
  router.get(`${path}/:id`, adminOnly, (request, response) =>
    show(deadLetterReplay, textOf(request.params["id"]), response),
  );
  router.post(`${path}/replay`, async (request, response) => {
    answerReplay(response, await deadLetterReplay.replay(await choiceOf(deadLetterReplay, request), modeOf(request)));
  });
  router.post(`${path}/:id/replay`, async (request, response) => {
    const { id, sink } = await known(deadLetterReplay, textOf(request.params["id"]));
    answerReplay(response, await deadLetterReplay.replay({ id, sink }, modeOf(request)));
  });
  router.delete(path, async (request, response) => {
    const choice = await choiceOf(deadLetterReplay, request);
    if (Object.values(choice).every((value) => value === undefined) && parameterOf(request, "all") !== "true") {
      throw badRequest(
        `Missing parameter. Give ${choiceNames.join(", ")}, or all=true to drop the letters of all sinks`,
      );
    }
    succeed(response, await deadLetterReplay.drop(choice));
  });
  router.delete(`${path}/:id`, async (request, response) => {
    const { id, sink } = await known(deadLetterReplay, textOf(request.params["id"]));
    succeed(response, await deadLetterReplay.drop({ id, sink }));
  });
  return router;
}

async function list(deadLetterReplay: DeadLetterReplay, request: Request, response: Response): Promise<void> {
  const choice = await choiceOf(deadLetterReplay, request);
  const limit = Math.min(countOf(request, "limit", usualLimit), largestLimit);
  const offset = countOf(request, "offset", 0);
  const shown: object[] = [];
  let count = 0;
  for await (const letter of deadLetterReplay.chosen(choice)) {
    if (count >= offset && shown.length < limit) shown.push(await described(deadLetterReplay, letter));
    count += 1;
  }
  succeed(response, { count, deadletters: shown });
}

/** A letter without its event, and what it is about. */
async function described(deadLetterReplay: DeadLetterReplay, letter: OpenLetter): Promise<object> {
  const { event: _event, ...rest } = letter;
  return { ...rest, ...subjectOf(letter), table: await deadLetterReplay.tableOf(letter) };
}

async function show(deadLetterReplay: DeadLetterReplay, id: string, response: Response): Promise<void> {
  const letter = await known(deadLetterReplay, id);
  succeed(response, { deadletter: { ...(await described(deadLetterReplay, letter)), event: letter.event } });
}

function answerReplay(response: Response, { replayed, underway, refusals }: ReplayResult): void {
  const refused = refusals.reduce((sum, { letters }) => sum + letters, 0);
  const counts = { replayed, underway, refused };
  if (refused === 0) {
    succeed(response, counts);
    return;
  }
  const error = refusals.map(({ reason }) => reason).join("; ");
  const shown = refusals.map(({ sink, letters, reason }) => ({ sink, letters, reason }));
  fail(response, refusals.some(({ retryable }) => retryable) ? 503 : 409, { error, ...counts, refusals: shown });
}

async function known(deadLetterReplay: DeadLetterReplay, id: string): Promise<OpenLetter> {
  const letter = await deadLetterReplay.letters.find(id);
  if (letter !== undefined) return letter;
  throw new RefusedCall(404, { error: `dead letter ${id} not found; it may be stored or dropped already` });
}

async function choiceOf(deadLetterReplay: DeadLetterReplay, request: Request): Promise<LetterChoice> {
  const given = parametersOf(request);
  const strange = given.find((name) => !ownParameters.has(name));
  if (strange !== undefined) {
    throw badRequest(`Unknown parameter ${strange}. Known are ${[...ownParameters].join(", ")}`);
  }
  const [sink, service, entity, reason, since] = choiceNames.map((name) => parameterOf(request, name));
  const choice = readChoice({ sink, service, entity, reason, since });
  if (typeof choice === "string") throw badRequest(`Invalid parameter. ${choice}`);
  try {
    await deadLetterReplay.checkSink(choice.sink);
  } catch (error) {
    if (codeOf(error) === "NO_SUCH_SINK") throw new RefusedCall(404, { error: reasonOf(error) });
    throw error;
  }
  return choice;
}

function modeOf(request: Request): { readonly dryRun: boolean } {
  return { dryRun: parameterOf(request, "dry_run") === "true" };
}

function countOf(request: Request, name: string, otherwise: number): number {
  const text = parameterOf(request, name);
  if (text === undefined) return otherwise;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw badRequest("Invalid parameter. limit and offset are whole numbers, 0 or more");
}

function textOf(parameter: unknown): string {
  return typeof parameter === "string" ? parameter : "";
}
