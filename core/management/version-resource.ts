import { Router } from "express";
import { succeed } from "./answers.js";
import { answer, operation, type Resource, record, schemaRef, success, text } from "./openapi.js";

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
