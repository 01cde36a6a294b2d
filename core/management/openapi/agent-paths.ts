import { answer, failure, openOperation, operation, type Paths, queryParameter, schemaRef } from "./operation.js";

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
  responses: { "200": answer("They are zero.", schemaRef("Success")) },
});

const probe = (summary: string, unready: object) =>
  openOperation({ summary, responses: { "200": answer("Yes.", { type: "object" }), ...unready } });

/** Everything about the agent itself. */
export const agentPaths: Paths = {
  "/v1/version": {
    get: operation({
      summary: "Version and revision of the software.",
      responses: { "200": answer("The version.", schemaRef("Version")) },
    }),
  },
  "/v1/stats": {
    get: operation({
      summary: "Counts of sources, channels and sinks.",
      responses: { "200": answer("The statistics.", schemaRef("Statistics")) },
    }),
    put: operation({
      summary: "Sets all counts to zero.",
      responses: { "200": answer("They are zero.", schemaRef("Success")) },
    }),
  },
  "/v1/admin/verify": {
    get: operation({
      summary: "Compares the ledger with the channels and the stores.",
      responses: { "200": answer("What was compared, and what differs.", schemaRef("Verification")) },
    }),
  },
  "/v1/admin/metrics": { get: readMetrics, delete: deleteMetrics },
  "/admin/metrics": { get: readMetrics, delete: deleteMetrics },
  "/metrics": {
    get: operation({
      summary: "Metrics for Prometheus.",
      responses: {
        "200": { description: "The metrics.", content: { "text/plain": { schema: { type: "string" } } } },
      },
    }),
  },
  "/live": { get: probe("Does the process answer?", {}) },
  "/ready": {
    get: probe("Are notifications taken and stored?", {
      "503": answer("No; the obstacles name the components.", schemaRef("NotReady")),
    }),
  },
  "/openapi.json": {
    get: operation({
      summary: "This document.",
      responses: { "200": answer("The document.", { type: "object" }) },
    }),
  },
};
