import { Router } from "express";
import type { Prometheus } from "../metrics/prometheus.js";

/** `GET /metrics`: everything Prometheus scrapes, in its text format. */
export function prometheusResource(prometheus: Prometheus, version: string): Router {
  prometheus.tellVersion(version);
  const router = Router({ caseSensitive: true });
  router.get("/metrics", async (_request, response) => {
    const text = await prometheus.text();
    response.set("Content-Type", prometheus.contentType).end(text);
  });
  return router;
}
