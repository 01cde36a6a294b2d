import { type Request, type RequestHandler, type Response, Router } from "express";
import { parameterOf } from "../requests.js";
import { passOn } from "./forwarding.js";
import type { WorkerCalls } from "./worker-calls.js";

/** Changes that each worker makes in its own memory: all make it, or none when one of them does not run. */
export function changesOfAll(calls: WorkerCalls): Router {
  const router = Router({ caseSensitive: true });
  const all: RequestHandler = async (request, response) => await byAll(calls, request, response);
  router.put(["/v1/stats", "/admin/log", "/v1/admin/log"], all);
  router.delete(["/v1/admin/metrics", "/admin/metrics"], all);
  router.post("/v1/admin/reload", all);
  const logging = ["/v1/admin/log/loggers", "/v1/admin/log/appenders"];
  const running: RequestHandler = async (request, response, next) => {
    // The logging file is the same for all: one worker changes it.
    if (parameterOf(request, "transient") === "false") next();
    else await byAll(calls, request, response);
  };
  router.put(logging, running).post(logging, running).delete(logging, running);
  return router;
}

/** The answer of the first that refuses, else that of the first worker. */
async function byAll(calls: WorkerCalls, request: Request, response: Response): Promise<void> {
  const call = calls.of(request, response);
  const answers = await Promise.all(calls.all.map((worker) => calls.ask(worker, call)));
  const answer = answers.find(({ status }) => status >= 300) ?? answers[0];
  if (answer !== undefined) passOn(answer, response);
}
