import { Router } from "express";
import type { Readiness } from "../agent/state/readiness.js";
import { sendJson } from "./answers.js";
import { answer, listOf, openOperation, type Resource, record, schemaRef, text, time } from "./openapi.js";

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
      NotReady: record({ status: text, obstacles: listOf(obstacle) }, { warnings: listOf(obstacle) }),
    },
  };
}

const obstacle = record({ component: text, reason: text, since: time });
