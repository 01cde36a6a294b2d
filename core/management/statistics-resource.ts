import { Router } from "express";
import type { Statistics } from "../agent/statistics.js";
import { succeed } from "./envelope.js";

/** `GET /v1/stats` shows the counts of all components; `PUT /v1/stats` sets them to zero. */
export function statisticsResource(statistics: Statistics): Router {
  const router = Router({ caseSensitive: true });
  router.get("/v1/stats", (_request, response) => succeed(response, { stats: statistics.snapshot() }));
  router.put("/v1/stats", (_request, response) => {
    statistics.reset();
    succeed(response);
  });
  return router;
}
