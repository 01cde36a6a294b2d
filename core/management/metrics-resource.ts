import { type RequestHandler, Router } from "express";
import type { TransactionMetrics } from "../metrics/transaction-metrics.js";
import { sendJson, succeed } from "./envelope.js";
import { badRequest } from "./refused-call.js";
import { parameterOf } from "./request-text.js";

/** `/v1/admin/metrics` and its alias: the metrics by service. They are read and reset in one step of the event loop. */
export function metricsResource(metrics: TransactionMetrics): Router {
  const router = Router({ caseSensitive: true });
  const read: RequestHandler = (request, response) => {
    const reset = parameterOf(request, "reset") ?? "false";
    if (reset !== "true" && reset !== "false") {
      throw badRequest("Parse error, invalid parameter (reset): Must be true or false. Check it for errors");
    }
    const snapshot = metrics.snapshot();
    if (reset === "true") metrics.reset();
    sendJson(response, 200, snapshot);
  };
  const remove: RequestHandler = (_request, response) => {
    metrics.reset();
    succeed(response);
  };
  router.get(["/v1/admin/metrics", "/admin/metrics"], read);
  router.delete(["/v1/admin/metrics", "/admin/metrics"], remove);
  return router;
}
