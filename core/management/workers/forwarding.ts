import { pipeline } from "node:stream/promises";
import { type Response, Router } from "express";
import { HttpError } from "../answers.js";
import { disconnected } from "../requests.js";
import type { Team } from "./team.js";
import type { WorkerAnswer, WorkerCalls } from "./worker-calls.js";

/** Headers of an answer that are of the worker and not of its connection. */
const passed = ["content-type", "retry-after", "x-accel-buffering"];

/** What the first worker answers for all: what is the same in each, and files that they share. */
export function firstWorker(calls: WorkerCalls): Router {
  const router = Router({ caseSensitive: true });
  router.use(async (request, response) => {
    passOn(await calls.ask(calls.first, calls.of(request, response)), response);
  });
  return router;
}

/** `/workers/{number}/...`: every call, to one worker alone. */
export function oneWorker(team: Team, calls: WorkerCalls): Router {
  const router = Router({ caseSensitive: true });
  router.use("/workers/:number", async (request, response) => {
    const { number } = request.params;
    const worker = team.workers.find((one) => String(one.number) === number);
    if (worker === undefined) throw new HttpError(404, { error: `There is no worker ${number}` });
    const answer = await calls
      .open(worker, calls.of(request, response, request.url), disconnected(response))
      .catch((cause: unknown) => {
        throw new HttpError(503, { error: `Worker ${number} does not answer; try again in a moment` }, { cause });
      });
    response.status(answer.statusCode ?? 502).set(headersOf(answer.headers));
    // Either side may go away in the middle of an answer.
    await pipeline(answer, response).catch(() => response.destroy());
  });
  return router;
}

/** Answers as a worker did. */
export function passOn({ status, headers, body }: WorkerAnswer, response: Response): void {
  response.status(status).set(headersOf(headers)).end(body);
}

function headersOf(headers: WorkerAnswer["headers"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    passed.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}
