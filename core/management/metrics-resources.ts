import { type RequestHandler, Router } from "express";
import type { Prometheus } from "../metrics/prometheus.js";
import type { TransactionMetrics } from "../metrics/transaction-metrics.js";
import { badRequest, sendJson, succeed } from "./answers.js";
import { answer, count, failure, operation, queryParameter, type Resource, record, schemaRef } from "./openapi.js";
import { parameterOf } from "./requests.js";

/** `/v1/admin/metrics` and its alias: the metrics by service. They are read and reset in one step of the event loop. */
export function metricsResource(metrics: TransactionMetrics): Resource {
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
  const router = Router({ caseSensitive: true });
  router.get(["/v1/admin/metrics", "/admin/metrics"], read);
  router.delete(["/v1/admin/metrics", "/admin/metrics"], remove);
  const described = { get: readMetrics, delete: deleteMetrics };
  const paths = { "/v1/admin/metrics": described, "/admin/metrics": described };
  const services = { type: "object", additionalProperties: service };
  return { router, paths, schemas: { Metrics: record({ services, sum: service }) } };
}

const readMetrics = operation({
  summary: "Transactions by service and sub-service.",
  parameters: [queryParameter("reset", "true: the metrics are deleted in the same step.", { enum: ["true", "false"] })],
  responses: {
    "200": answer("The metrics, without the envelope.", schemaRef("Metrics")),
    "400": failure("reset is neither true nor false."),
  },
});

const deleteMetrics = operation({
  summary: "Sets all transaction metrics to zero.",
  responses: { "200": answer("The metrics are zero.", schemaRef("Success")) },
});

const scope = record({
  incomingTransactions: count,
  incomingTransactionRequestSize: count,
  incomingTransactionResponseSize: count,
  incomingTransactionError: count,
  incomingTransactionErrors: count,
  serviceTime: { type: "number", minimum: 0, description: "Mean milliseconds from reception to the end of a write." },
  outgoingTransactions: count,
  outgoingTransactionRequestSize: count,
  outgoingTransactionResponseSize: count,
  outgoingTransactionError: count,
  outgoingTransactionErrors: count,
});

const service = record({ subservs: { type: "object", additionalProperties: scope }, sum: scope });

/** `GET /metrics`: all metrics in the text format of Prometheus. */
export function prometheusResource(prometheus: Prometheus, version: string): Resource {
  prometheus.setVersion(version);
  const router = Router({ caseSensitive: true });
  router.get("/metrics", async (_request, response) => {
    const text = await prometheus.text();
    response.set("Content-Type", prometheus.contentType).end(text);
  });
  const get = operation({
    summary: "Metrics for Prometheus.",
    responses: { "200": { description: "The metrics.", content: { "text/plain": { schema: { type: "string" } } } } },
  });
  return { router, paths: { "/metrics": { get } }, schemas: {} };
}
