import { type Request, type Response, Router } from "express";
import type { JsonObject } from "../../agent/live/merge-patch.js";
import { badRequest, sendJson, succeed } from "../answers.js";
import { countOf } from "../dead-letters-resource.js";
import { parameterOf } from "../requests.js";
import { documentOf, numberIn, objectsIn, textIn } from "./documents.js";
import { passOn } from "./forwarding.js";
import { merged } from "./merged.js";
import type { WorkerView } from "./team.js";
import { accepted, type WorkerAnswer, type WorkerCalls } from "./worker-calls.js";

const path = "/v1/admin/deadletters";
const usualLimit = 100;
const largestLimit = 10_000;
const usualPage = 50;

/** The dead letters of all workers. One of a log that workers share is listed once. */
export function deadLettersOfAll(calls: WorkerCalls): Router {
  const router = Router({ caseSensitive: true });
  router.get(path, async (request, response) => await list(calls, request, response));
  router.get(`${path}/search`, async (request, response) => await search(calls, request, response));
  router.post(`${path}/replay`, async (request, response) => await change(calls, request, response));
  router.delete(path, async (request, response) => await change(calls, request, response));
  router.use(`${path}/:id`, async (request, response) => await find(calls, request, response));
  return router;
}

async function list(calls: WorkerCalls, request: Request, response: Response): Promise<void> {
  const limit = Math.min(countOf(request, "limit", usualLimit), largestLimit);
  const offset = countOf(request, "offset", 0);
  const parameters = { offset: "0", limit: String(Math.min(limit + offset, largestLimit)) };
  const answers = await asked(calls, request, response, () => parameters);
  const documents = answers.map(documentOf);
  const found = documents.flatMap((document) => objectsIn(document, "deadletters"));
  const letters = oldestFirst(unique(found));
  const count = documents.reduce((sum, document) => sum + numberIn(document, "count"), 0);
  const repeated = found.length - letters.length;
  succeed(response, { count: count - repeated, deadletters: letters.slice(offset, offset + limit) });
}

/** Newest first on each page; a cursor holds those of the workers that have more. */
async function search(calls: WorkerCalls, request: Request, response: Response): Promise<void> {
  const cursors = cursorsIn(request);
  const workers = calls.running.filter(({ number }) => cursors === undefined || cursors[number] !== undefined);
  const limit = String(Math.max(1, Math.ceil(countOf(request, "limit", usualPage) / Math.max(1, workers.length))));
  const parameters = ({ number }: WorkerView) => {
    const cursor = cursors?.[number];
    return cursor === undefined || cursor === "" ? { limit, cursor: undefined } : { limit, cursor };
  };
  const answers = await asked(calls, request, response, parameters, workers);
  const next = answers.flatMap((answer) => {
    const cursor = textIn(documentOf(answer), "next");
    return cursor === "" ? [] : [[answer.worker.number, cursor] as const];
  });
  const found = answers.flatMap((answer) => objectsIn(documentOf(answer), "deadletters"));
  succeed(response, {
    deadletters: oldestFirst(unique(found)).toReversed(),
    ...(next.length === 0 ? {} : { next: encoded(next) }),
    complete: next.length === 0,
  });
}

/** One after another: what one worker has begun with, the next one that shares it leaves alone. */
async function change(calls: WorkerCalls, request: Request, response: Response): Promise<void> {
  const call = calls.of(request, response);
  const answers: WorkerAnswer[] = [];
  for (const worker of calls.all) {
    const answer = await calls.ask(worker, call);
    answers.push(answer);
    // It would be refused by the others, too.
    if (answer.status === 400 || answer.status === 403 || answer.status === 404) break;
  }
  const failed = answers.find(({ status }) => status >= 300);
  const { error: _, ...counts } = merged(answers.map(documentOf));
  if (failed === undefined) {
    sendJson(response, 200, counts);
    return;
  }
  const errors = answers.map((answer) => textIn(documentOf(answer), "error")).filter((error) => error !== "");
  const error = [...new Set(errors)].join("; ");
  const status = answers.some((answer) => answer.status === 503) ? 503 : failed.status;
  sendJson(response, status, { ...counts, success: "false", error });
}

async function find(calls: WorkerCalls, request: Request, response: Response): Promise<void> {
  const call = calls.of(request, response);
  let last: WorkerAnswer | undefined;
  for (const worker of calls.someRunning) {
    last = await calls.ask(worker, call);
    if (last.status !== 404) break;
  }
  if (last !== undefined) passOn(last, response);
}

type Parameters = Readonly<Record<string, string | undefined>>;

async function asked(
  calls: WorkerCalls,
  request: Request,
  response: Response,
  parameters: (worker: WorkerView) => Parameters,
  workers = calls.someRunning,
): Promise<readonly WorkerAnswer[]> {
  const each = workers.map(async (worker) => {
    const target = withParameters(request.originalUrl, parameters(worker));
    return await calls.ask(worker, calls.of(request, response, target));
  });
  return accepted(await Promise.all(each));
}

function withParameters(url: string, parameters: Parameters): string {
  const [target = "", query = ""] = url.split("?", 2);
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) all.delete(name);
    else all.set(name, value);
  }
  return `${target}?${all}`;
}

function unique(letters: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(letters.map((letter) => [textIn(letter, "id"), letter])).values()];
}

function oldestFirst(letters: readonly JsonObject[]): readonly JsonObject[] {
  return letters.toSorted((one, other) => textIn(one, "time").localeCompare(textIn(other, "time")));
}

/** By the number of a worker; undefined where the search begins. */
function cursorsIn(request: Request): Readonly<Record<number, string>> | undefined {
  const text = parameterOf(request, "cursor");
  if (text === undefined) return undefined;
  const cursors = documentOf({ body: Buffer.from(text, "base64url") });
  const known = Object.entries(cursors).flatMap(([number, cursor]) =>
    /^\d+$/.test(number) && typeof cursor === "string" ? [[Number(number), cursor] as const] : [],
  );
  if (known.length > 0) return Object.fromEntries(known);
  throw badRequest("Invalid parameter. cursor is the next of an answer");
}

function encoded(cursors: readonly (readonly [number, string])[]): string {
  return Buffer.from(JSON.stringify(Object.fromEntries(cursors))).toString("base64url");
}
