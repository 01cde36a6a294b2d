import { type Request, type Response, Router } from "express";
import type { DeadLetterReplay, ReplayResult } from "../../agent/replay/dead-letter-replay.js";
import type { ReplayPlan } from "../../agent/replay/replay-plan.js";
import { SerialQueue } from "../../files/serial-queue.js";
import { choiceNames, type LetterChoice, readChoice, subjectOf } from "../../pipeline/dead-letters/choice.js";
import type { OpenLetter } from "../../pipeline/dead-letters/dead-letters.js";
import { codeOf, reasonOf } from "../../sdk/index.js";
import { badRequest, fail, HttpError, succeed } from "../answers.js";
import type { Resource } from "../openapi.js";
import { asObject, countOf, flagOf, jsonBody, parameterOf, unknownParameter } from "../requests.js";
import { adminOnly } from "../security/access.js";
import { deadLetterPaths as paths, deadLetterSchemas as schemas } from "./dead-letters-openapi.js";

/** What a replay would do, with that many examples. */
type PlanOf = (choice: LetterChoice, examples: number) => Promise<ReplayPlan>;

const mostIds = 1000;
const mostExamples = 20;

/** The number of dead letters in a list, unless the query sets a limit. */
const defaultLimit = 100;
const largestLimit = 10_000;

const path = "/v1/admin/deadletters";
/** What each operation takes: of another parameter a caller expects something that would not be done. */
const parameters = {
  list: new Set([...choiceNames, "limit", "offset"]),
  replay: new Set([...choiceNames, "all", "dry_run", "explain"]),
  drop: new Set([...choiceNames, "all"]),
  replayOne: new Set(["dry_run"]),
  dropOne: new Set<string>(),
} as const;

/**
 * `GET /v1/admin/deadletters` lists dead letters, `GET .../{id}` shows one with its event, `POST .../replay` and
 * `POST .../{id}/replay` replay them to their sinks, `DELETE` drops them. The query selects them.
 */
export function deadLettersResource(deadLetters: DeadLetterReplay, planOf: PlanOf): Resource {
  const router = Router({ caseSensitive: true });
  // Each reads whole files. Together they would take as long, and hold up everything else.
  const readings = new SerialQueue();
  router.get(path, async (request, response) => {
    const choice = await choiceOf(deadLetters, request, parameters.list);
    const limit = Math.min(countOf(request, "limit", defaultLimit), largestLimit);
    const offset = countOf(request, "offset", 0);
    await readings.run(() => list(deadLetters, { choice, limit, offset }, response));
  });
  router.get(`${path}/:id`, adminOnly, (request, response) =>
    show(deadLetters, textOf(request.params["id"]), response),
  );
  router.post(`${path}/replay`, async (request, response) => {
    const mode = modeOf(request);
    const choice = await chosenBy(deadLetters, request, parameters.replay);
    const explain = countOf(request, "explain", undefined);
    if (explain !== undefined && !mode.dryRun) throw badRequest("Invalid parameter. explain is for dry_run=true");
    const examples = Math.min(explain ?? 0, mostExamples);
    const more = explain === undefined ? {} : { plan: await readings.run(() => planOf(choice, examples)) };
    answerReplay(response, await deadLetters.replay(choice, mode), more);
  });
  router.post(`${path}/:id/replay`, async (request, response) => {
    checkParameters(request, parameters.replayOne);
    const mode = modeOf(request);
    const { id, sink } = await known(deadLetters, textOf(request.params["id"]));
    answerReplay(response, await deadLetters.replay({ id, sink }, mode));
  });
  router.delete(path, async (request, response) => {
    const isAll = flagOf(request, "all");
    const choice = await chosenBy(deadLetters, request, parameters.drop);
    if (Object.values(choice).every((value) => value === undefined) && !isAll) {
      throw badRequest(
        `Missing parameter. Give ${choiceNames.join(", ")}, or all=true to drop the letters of all sinks`,
      );
    }
    succeed(response, await deadLetters.drop(choice));
  });
  router.delete(`${path}/:id`, async (request, response) => {
    checkParameters(request, parameters.dropOne);
    const { id, sink } = await known(deadLetters, textOf(request.params["id"]));
    succeed(response, await deadLetters.drop({ id, sink }));
  });
  return { router, paths, schemas };
}

interface ListPage {
  readonly choice: LetterChoice;
  readonly limit: number;
  readonly offset: number;
}

async function list(deadLetters: DeadLetterReplay, page: ListPage, response: Response): Promise<void> {
  const { choice, limit, offset } = page;
  // Its caller may have left while it waited.
  if (response.destroyed) return;
  const shown: object[] = [];
  let count = 0;
  for await (const deadLetter of deadLetters.chosen(choice)) {
    if (response.destroyed) return;
    if (count >= offset && shown.length < limit) shown.push(await described(deadLetters, deadLetter));
    count += 1;
  }
  succeed(response, { count, deadletters: shown });
}

/** A dead letter without its event, with its service, entity and table. */
async function described(deadLetters: DeadLetterReplay, deadLetter: OpenLetter): Promise<object> {
  return { ...withoutEvent(deadLetter), table: await deadLetters.tableOf(deadLetter) };
}

/** The same without its table. */
export function withoutEvent(deadLetter: OpenLetter): object {
  const { event: _event, shared, ...rest } = deadLetter;
  return { ...rest, ...(shared === undefined ? {} : { agent: shared.agent }), ...subjectOf(deadLetter) };
}

async function show(deadLetters: DeadLetterReplay, id: string, response: Response): Promise<void> {
  const deadLetter = await known(deadLetters, id);
  succeed(response, { deadletter: { ...(await described(deadLetters, deadLetter)), event: deadLetter.event } });
}

function answerReplay(response: Response, { replayed, underway, refusals }: ReplayResult, more: object = {}): void {
  const refused = refusals.reduce((sum, { letters }) => sum + letters, 0);
  const counts = { replayed, underway, refused, ...more };
  if (refused === 0) {
    succeed(response, counts);
    return;
  }
  const error = refusals.map(({ reason }) => reason).join("; ");
  const shown = refusals.map(({ sink, letters, reason }) => ({ sink, letters, reason }));
  fail(response, refusals.some(({ retryable }) => retryable) ? 503 : 409, { error, ...counts, refusals: shown });
}

async function known(deadLetters: DeadLetterReplay, id: string): Promise<OpenLetter> {
  const deadLetter = await deadLetters.letters.find(id);
  if (deadLetter !== undefined) return deadLetter;
  throw new HttpError(404, { error: `dead letter ${id} not found; it may be stored or dropped already` });
}

/** What the query chooses, and of these the ids of the body when it has some. */
async function chosenBy(
  deadLetters: DeadLetterReplay,
  request: Request,
  taken: ReadonlySet<string>,
): Promise<LetterChoice> {
  const choice = await choiceOf(deadLetters, request, taken);
  const body = jsonBody(request);
  if (body === undefined) return choice;
  const { ids, ...others } = asObject(body) ?? { none: body };
  const isList = Array.isArray(ids) && ids.length > 0 && ids.length <= mostIds;
  if (!isList || !ids.every((id) => typeof id === "string") || Object.keys(others).length > 0) {
    throw badRequest(`Invalid body. It is {"ids": [...]} with 1 to ${mostIds} ids of dead letters, or absent`);
  }
  return { ...choice, ids: new Set(ids) };
}

/** What the query chooses; `taken` are the names of the parameters of the operation. */
export async function choiceOf(
  deadLetters: DeadLetterReplay,
  request: Request,
  taken: ReadonlySet<string>,
): Promise<LetterChoice> {
  checkParameters(request, taken);
  const choice = readChoice(Object.fromEntries(choiceNames.map((name) => [name, parameterOf(request, name)])));
  if (typeof choice === "string") throw badRequest(`Invalid parameter. ${choice}`);
  try {
    await deadLetters.checkSink(choice.sink);
  } catch (error) {
    if (codeOf(error) === "NO_SUCH_SINK") throw new HttpError(404, { error: reasonOf(error) });
    throw error;
  }
  return choice;
}

function checkParameters(request: Request, taken: ReadonlySet<string>): void {
  const fault = unknownParameter(request, taken);
  if (fault !== undefined) throw badRequest(fault);
}

function modeOf(request: Request): { readonly dryRun: boolean } {
  return { dryRun: flagOf(request, "dry_run") };
}

function textOf(parameter: unknown): string {
  return typeof parameter === "string" ? parameter : "";
}
