import { Router } from "express";
import { streamResource } from "../live/live-resources.js";
import type { LiveStream } from "../live/live-stream.js";
import type { LiveTeam } from "./live-team.js";

/** `GET /v1/stream` of all workers; its first document waits for those of the workers. */
export function streamOfAll(live: LiveTeam, stream: LiveStream): Router {
  const router = Router({ caseSensitive: true });
  router.get("/v1/stream", async (_request, _response, next) => {
    await live.opened();
    next();
  });
  router.use(streamResource(stream, live).router);
  return router;
}
