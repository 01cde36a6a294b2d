import type { RequestHandler, Response } from "express";
import { HttpError } from "../answers.js";
import { inOrder, type Team, type WorkerView } from "./team.js";

/**
 * Calls below `/workers/N` are for that worker alone. They get the path behind it before access is checked, so that they need
 * the rights that the path needs.
 */
export const readdressed: RequestHandler = (request, response, next) => {
  const [, number, path] = /^\/workers\/(\d{1,6})(\/.*)$/.exec(request.url) ?? [];
  if (number !== undefined && path !== undefined) {
    response.locals["worker"] = Number(number);
    request.url = path;
  }
  next();
};

/** The worker that a call names; undefined when it is for all of them. */
export function chosenWorker({ workers }: Team, response: Response): WorkerView | undefined {
  const number: unknown = response.locals["worker"];
  if (number === undefined) return undefined;
  const worker = workers.find((one) => one.number === number);
  if (worker !== undefined) return worker;
  const known = inOrder(workers).map((one) => one.number);
  throw new HttpError(404, { error: `There is no worker ${number}; there are ${known.join(", ")}` });
}
