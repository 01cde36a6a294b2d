import { Router } from "express";
import type { AgentErasure } from "../agent/agent-erasure.js";
import type { ErasureOf } from "../pipeline/erasures.js";
import { badRequest, succeed } from "./answers.js";
import {
  answer,
  count,
  failure,
  flag,
  listOf,
  operation,
  type Resource,
  record,
  schemaRef,
  success,
  text,
  texts,
} from "./openapi.js";
import { asObject, jsonBody, refuseUnknownMembers } from "./requests.js";

const path = "/v1/admin/erasures";

/** `POST /v1/admin/erasures`: erases what the agent holds of an entity or a service and has not stored. */
export function erasuresResource(erasure: Pick<AgentErasure, "erase">): Resource {
  const router = Router({ caseSensitive: true });
  router.post(path, async (request, response) => {
    const { of, dryRun } = requestIn(jsonBody(request));
    const { deadLetters, channels, unsettled } = await erasure.erase(of, { dryRun });
    succeed(response, { dry_run: dryRun, dead_letters: deadLetters, channels, unsettled });
  });
  const post = operation({
    summary: "Erases dead letters and waiting events of an entity or a service; deneb erase uses it.",
    requestBody: { required: true, content: { "application/json": { schema: schemaRef("ErasureRequest") } } },
    responses: {
      "200": answer("What was erased, or would be.", schemaRef("ErasureResult")),
      "400": failure("The body is wrong."),
    },
  });
  const properties = { entity: text, service: text, dry_run: flag };
  return {
    router,
    paths: { [path]: { post } },
    schemas: {
      ErasureRequest: {
        type: "object",
        properties,
        anyOf: [{ required: ["entity"] }, { required: ["service"] }],
        additionalProperties: false,
      },
      ErasureResult: record({
        success,
        dry_run: flag,
        dead_letters: count,
        channels: listOf(record({ channel: text }, { waiting: count, shared: { const: true } })),
        unsettled: texts,
      }),
    },
  };
}

const members: ReadonlySet<string> = new Set(["entity", "service", "dry_run"]);

function requestIn(body: unknown): { readonly of: ErasureOf; readonly dryRun: boolean } {
  const given = asObject(body) ?? {};
  refuseUnknownMembers(given, members);
  const { entity, service, dry_run: dryRun = false } = given;
  const isText = (value: unknown) => value === undefined || (typeof value === "string" && value !== "");
  if (!isText(entity) || !isText(service) || typeof dryRun !== "boolean") {
    throw badRequest("Invalid member. entity and service are texts that are not empty, dry_run is true or false");
  }
  const of = {
    ...(typeof entity === "string" ? { entity } : {}),
    ...(typeof service === "string" ? { service } : {}),
  };
  if (Object.keys(of).length === 0) throw badRequest("Missing member. Give entity, service or both");
  return { of, dryRun };
}
