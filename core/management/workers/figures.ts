import { Router } from "express";
import { verificationOfAll } from "../../agent/verification-of-all.js";
import { sendJson, succeed } from "../answers.js";
import { parameterOf } from "../requests.js";
import { documentOf } from "./documents.js";
import { merged } from "./merged.js";
import type { OwnMetrics } from "./own-metrics.js";
import { prometheusTextOf } from "./prometheus-text.js";
import { readinessOf } from "./readiness.js";
import { serviceMetricsOf } from "./service-metrics.js";
import { statisticsOf } from "./statistics.js";
import type { Team } from "./team.js";
import { verificationIn } from "./verification.js";
import { accepted, type WorkerCalls } from "./worker-calls.js";

/** Whether the agent lives and is ready: it is when all its workers are. */
export function probesOfAll(team: Team, calls: WorkerCalls): Router {
  const router = Router({ caseSensitive: true });
  router.get("/live", (_request, response) => sendJson(response, 200, { status: "live" }));
  router.get("/ready", async (_request, response) => {
    const answers = await calls.each(calls.running, calls.own("/ready"));
    const { obstacles, warnings } = readinessOf(answers, team.workers);
    const more = warnings.length === 0 ? {} : { warnings };
    if (obstacles.length === 0) sendJson(response, 200, { status: "ready", ...more });
    else sendJson(response, 503, { status: "not ready", obstacles, ...more });
  });
  return router;
}

/** What is counted and compared, of all workers together. */
export function figuresOfAll(team: Team, calls: WorkerCalls, own: OwnMetrics): Router {
  const router = Router({ caseSensitive: true });
  router.get("/v1/stats", async (request, response) => {
    const answers = await calls.each(calls.someRunning, calls.of(request, response));
    succeed(response, { stats: statisticsOf(accepted(answers), team.workers) });
  });
  router.get(["/v1/admin/metrics", "/admin/metrics"], async (request, response) => {
    // What is reset is reset everywhere.
    const workers = parameterOf(request, "reset") === "true" ? calls.all : calls.someRunning;
    const answers = accepted(await calls.each(workers, calls.of(request, response)));
    sendJson(response, 200, serviceMetricsOf(answers.map(documentOf)));
  });
  router.get("/metrics", async (request, response) => {
    const answers = accepted(await calls.each(calls.running, calls.of(request, response)));
    const texts = answers.map(({ worker, body }) => ({ worker: worker.number, text: body.toString() }));
    response.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    response.end(prometheusTextOf([...texts, { worker: undefined, text: own.text() }]));
  });
  router.get("/v1/admin/verify", async (request, response) => {
    const answers = await calls.each(calls.someRunning, calls.of(request, response));
    const silent = team.workers.filter(({ number }) => !answers.some(({ worker }) => worker.number === number));
    const verification = verificationOfAll(
      answers.map((answer) => ({ worker: answer.worker.number, result: verificationIn(answer) })),
    );
    const unknown = [...verification.unknown, ...silent.map(({ number }) => `worker ${number}: it does not answer`)];
    succeed(response, { verification: { ...verification, unknown } });
  });
  router.post("/v1/admin/erasures", async (request, response) => {
    const call = calls.of(request, response);
    const answers = accepted(await Promise.all(calls.all.map((worker) => calls.ask(worker, call))));
    const { dry_run, ...erased } = merged(answers.map(documentOf));
    sendJson(response, 200, { ...erased, dry_run });
  });
  return router;
}
