import { type RequestHandler, Router } from "express";
import { disconnected } from "../requests.js";
import type { Answering } from "./answering.js";
import { chosenWorker } from "./one-worker.js";
import type { PassThrough } from "./pass-through.js";
import type { Team } from "./team.js";

type Method = "get" | "put" | "post" | "delete";

/** How the answers of workers to a call become one. */
export interface Rule {
  readonly methods: readonly Method[];
  readonly paths: readonly string[];
  /** Keeps callers out whom the rights of a token do not keep out. */
  readonly guard?: RequestHandler;
  readonly answer: Answering;
  /** Whether it answers calls for one worker, too; those of other rules are passed on to it. */
  readonly ofOne?: boolean;
}

/** Answers calls by the first rule of their path; a path without a rule reaches no worker. */
export function ruleRouter(rules: readonly Rule[], team: Team, through: PassThrough): Router {
  const router = Router({ caseSensitive: true });
  for (const { methods, paths, guard, answer, ofOne = false } of rules) {
    const handler: RequestHandler = async (request, response) => {
      const call = { team, request, response, signal: disconnected(response) };
      const worker = ofOne ? undefined : chosenWorker(team, response);
      if (worker === undefined) await answer(call);
      else await through.pass(call, [worker]);
    };
    for (const method of methods) {
      router[method]([...paths], ...(guard === undefined ? [] : [guard]), handler);
    }
  }
  return router;
}
