import { Router } from "express";
import type { Statistics } from "../../agent/state/statistics.js";
import { succeed } from "../answers.js";
import { answer, operation, type Resource, record, schemaRef, success } from "../openapi.js";
import { statisticsSchema } from "./statistics-openapi.js";

/** `GET /v1/stats` shows the counts of all components; `PUT /v1/stats` sets them to zero. */
export function statisticsResource(statistics: Statistics): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/v1/stats", (_request, response) => succeed(response, { stats: statistics.snapshot() }));
  router.put("/v1/stats", (_request, response) => {
    statistics.reset();
    succeed(response);
  });
  const get = operation({
    summary: "Counts of sources, channels and sinks.",
    responses: { "200": answer("The statistics.", schemaRef("Statistics")) },
  });
  const put = operation({
    summary: "Sets all counts to zero.",
    responses: { "200": answer("The counts are zero.", schemaRef("Success")) },
  });
  return {
    router,
    paths: { "/v1/stats": { get, put } },
    schemas: { Statistics: record({ success, stats: statisticsSchema }) },
  };
}
