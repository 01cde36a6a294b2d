import { Router } from "express";
import type { Readiness } from "../agent/readiness.js";
import { sendJson } from "./envelope.js";

/** `GET /live`: the process answers. `GET /ready`: notifications are taken and stored; if not, 503 says what does not. */
export function probesResource(readiness: Readiness): Router {
  const router = Router({ caseSensitive: true });
  router.get("/live", (_request, response) => sendJson(response, 200, { status: "live" }));
  router.get("/ready", (_request, response) => {
    const obstacles = readiness.obstacles();
    const warnings = readiness.warnings();
    const more = warnings.length === 0 ? {} : { warnings };
    if (obstacles.length === 0) sendJson(response, 200, { status: "ready", ...more });
    else sendJson(response, 503, { status: "not ready", obstacles, ...more });
  });
  return router;
}
