import { Router } from "express";
import { succeed } from "./envelope.js";

/** `GET /v1/version`. */
export function versionResource(version: string): Router {
  const router = Router({ caseSensitive: true });
  router.get("/v1/version", (_request, response) => succeed(response, { version }));
  return router;
}
