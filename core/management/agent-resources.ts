import { Router } from "express";
import type { Readiness } from "../agent/readiness.js";
import type { Statistics } from "../agent/statistics.js";
import { sendJson, succeed } from "./answers.js";
import { answer, openOperation, operation, type Resource, record, schemaRef, success, text } from "./openapi.js";
import { statisticsSchema } from "./statistics-openapi.js";

/** `GET /v1/version`. */
export function versionResource(version: string): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/v1/version", (_request, response) => succeed(response, { version }));
  const get = operation({
    summary: "Version and revision of the software.",
    responses: { "200": answer("The version.", schemaRef("Version")) },
  });
  return { router, paths: { "/v1/version": { get } }, schemas: { Version: record({ success, version: text }) } };
}

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

/** `GET /live`: the process answers. `GET /ready`: notifications are accepted and stored; if not, 503 names the obstacles. */
export function probesResource(readiness: Readiness): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/live", (_request, response) => sendJson(response, 200, { status: "live" }));
  router.get("/ready", (_request, response) => {
    const obstacles = readiness.obstacles();
    const warnings = readiness.warnings();
    const more = warnings.length === 0 ? {} : { warnings };
    if (obstacles.length === 0) sendJson(response, 200, { status: "ready", ...more });
    else sendJson(response, 503, { status: "not ready", obstacles, ...more });
  });
  const yes = answer("Yes.", { type: "object" });
  const no = answer("No; the obstacles name the components.", schemaRef("NotReady"));
  return {
    router,
    paths: {
      "/live": { get: openOperation({ summary: "Does the process answer?", responses: { "200": yes } }) },
      "/ready": {
        get: openOperation({
          summary: "Are notifications accepted and stored?",
          responses: { "200": yes, "503": no },
        }),
      },
    },
    schemas: {
      NotReady: {
        type: "object",
        required: ["status", "obstacles"],
        properties: {
          status: text,
          obstacles: { type: "array", items: obstacle },
          warnings: { type: "array", items: obstacle },
        },
      },
    },
  };
}

const obstacle = record({ component: text, reason: text, since: { type: "string", format: "date-time" } });
