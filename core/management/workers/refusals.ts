import type { Response } from "express";
import { codeOf, reasonOf } from "../../sdk/index.js";
import { HttpError } from "../answers.js";
import { inOrder, nameOf, reasonOfState, type Team, type WorkerView } from "./team.js";

/** A call that the gateway may refuse. */
interface Refusable {
  readonly team: Team;
  readonly response: Response;
}

export function nobodyAnswers({ team, response }: Refusable): HttpError {
  response.set("Retry-After", "1");
  const states = inOrder(team.workers).map((worker) => `${nameOf(worker)} is ${reasonOfState(worker)}`);
  return new HttpError(503, { error: `No worker answers. Try again in a moment (${states.join("; ")})` });
}

/** Throws status 503, before anything is changed, unless every worker of the team runs. */
export function requireAll({ team, response }: Refusable): readonly WorkerView[] {
  const missing = inOrder(team.workers).find(({ state }) => state !== "running");
  if (missing !== undefined) throw cannotChange({ response }, missing);
  return inOrder(team.workers);
}

/** Throws status 503, before anything is changed, unless worker 1 runs: it alone writes files that all read. */
export function requireFirst({ team, response }: Refusable): WorkerView {
  const [first] = inOrder(team.workers);
  if (first?.state === "running") return first;
  throw first === undefined ? nobodyAnswers({ team, response }) : cannotChange({ response }, first);
}

export function cannotChange(
  { response }: Pick<Refusable, "response">,
  worker: WorkerView,
  reason = `is ${reasonOfState(worker)}`,
): HttpError {
  response.set("Retry-After", "5");
  const error = `Nothing is changed: ${nameOf(worker)} ${reason}. Try again when it runs`;
  return new HttpError(503, { error });
}

/** The error of a worker that was asked alone. */
export function silent({ response }: Pick<Refusable, "response">, worker: WorkerView, failure: unknown): HttpError {
  const isLate = codeOf(failure) === "WORKER_LATE";
  if (!isLate) response.set("Retry-After", "1");
  const state = worker.state === "running" ? "" : `; ${nameOf(worker)} is ${reasonOfState(worker)}`;
  return new HttpError(isLate ? 504 : 503, { error: `${reasonOf(failure)}${state}` }, { cause: failure });
}
