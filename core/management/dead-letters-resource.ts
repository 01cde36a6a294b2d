import { type Request, type Response, Router } from "express";
import type { LetterChoice, LetterDesk } from "../agent/letter-desk.js";
import type { OpenLetter } from "../pipeline/dead-letters.js";
import { codeOf, reasonOf, retryableOf } from "../sdk/index.js";
import { fail, succeed } from "./envelope.js";

/** So many letters are listed when the request does not say. */
const usualLimit = 100;

const path = "/v1/admin/deadletters";

/**
 * `GET /v1/admin/deadletters` lists, `GET .../{id}` shows one with its event, `POST .../replay` and
 * `POST .../{id}/replay` send letters to their sinks again, `DELETE` drops them. `?sink=` chooses those of one sink.
 */
export function deadLettersResource(desk: LetterDesk): Router {
  const router = Router({ caseSensitive: true });
  router.get(path, (request, response) => list(desk, request, response));
  router.get(`${path}/:id`, (request, response) => show(desk, request.params.id, response));
  router.post(`${path}/replay`, (request, response) => replay(desk, choiceOf(request), response));
  router.post(`${path}/:id/replay`, async (request, response) => {
    const { id } = request.params;
    if (await isKnown(desk, id, response)) await replay(desk, { id }, response);
  });
  router.delete(path, async (request, response) => {
    const choice = choiceOf(request);
    if (choice.sink === undefined && request.query["all"] !== "true") {
      fail(response, 400, {
        error: "Missing parameter. Give sink=<name>, or all=true to drop the letters of all sinks",
      });
      return;
    }
    succeed(response, { dropped: await desk.drop(choice) });
  });
  router.delete(`${path}/:id`, async (request, response) => {
    const { id } = request.params;
    if (await isKnown(desk, id, response)) succeed(response, { dropped: await desk.drop({ id }) });
  });
  return router;
}

async function list(desk: LetterDesk, request: Request, response: Response): Promise<void> {
  const limit = countOf(request.query["limit"], usualLimit);
  const offset = countOf(request.query["offset"], 0);
  if (limit === undefined || offset === undefined) {
    fail(response, 400, { error: "Invalid parameter. limit and offset are whole numbers, 0 or more" });
    return;
  }
  const shown: object[] = [];
  let count = 0;
  for await (const { event: _event, ...letter } of desk.chosen(choiceOf(request))) {
    if (count >= offset && shown.length < limit) shown.push(letter);
    count += 1;
  }
  succeed(response, { count, deadletters: shown });
}

async function show(desk: LetterDesk, id: string, response: Response): Promise<void> {
  const letter = await found(desk, id);
  if (letter === undefined) fail(response, 404, unknownLetter(id));
  else succeed(response, { deadletter: letter });
}

async function replay(desk: LetterDesk, choice: LetterChoice, response: Response): Promise<void> {
  try {
    succeed(response, { ...(await desk.replay(choice)) });
  } catch (error) {
    if (codeOf(error) === "UNKNOWN_SINK") fail(response, 409, { error: reasonOf(error) });
    else if (retryableOf(error) === true) fail(response, 503, { error: reasonOf(error) });
    else throw error;
  }
}

async function isKnown(desk: LetterDesk, id: string, response: Response): Promise<boolean> {
  if ((await found(desk, id)) !== undefined) return true;
  fail(response, 404, unknownLetter(id));
  return false;
}

async function found(desk: LetterDesk, id: string): Promise<OpenLetter | undefined> {
  return await desk.letters.find(id);
}

function unknownLetter(id: string): object {
  return { error: `dead letter ${id} not found; it may be stored or dropped already` };
}

function choiceOf({ query }: Request): LetterChoice {
  const { sink } = query;
  return typeof sink === "string" && sink !== "" ? { sink } : {};
}

function countOf(text: unknown, otherwise: number): number | undefined {
  if (text === undefined) return otherwise;
  return typeof text === "string" && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
