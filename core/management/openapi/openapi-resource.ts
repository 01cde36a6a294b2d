import { Router } from "express";
import { sendJson } from "../envelope.js";
import { agentPaths } from "./agent-paths.js";
import { deadLetterPaths } from "./dead-letter-paths.js";
import { logPaths } from "./log-paths.js";
import { nameMappingsPaths } from "./name-mappings-paths.js";
import type { Paths } from "./operation.js";
import { schemas } from "./schemas.js";
import { subscriptionPaths } from "./subscription-paths.js";

/** Every path of the interface; a test compares them with the routes. */
export const documentedPaths: Paths = {
  ...agentPaths,
  ...subscriptionPaths,
  ...logPaths,
  ...nameMappingsPaths,
  ...deadLetterPaths,
};

/** `GET /openapi.json`: the interface described in OpenAPI 3.1. */
export function openapiResource(version: string): Router {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Deneb management interface",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [] }, {}],
    paths: documentedPaths,
    components: { schemas, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
  const router = Router({ caseSensitive: true });
  router.get("/openapi.json", (_request, response) => sendJson(response, 200, document));
  return router;
}
