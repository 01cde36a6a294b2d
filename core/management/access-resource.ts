import { Router } from "express";
import { succeed } from "./answers.js";
import { answer, flag, operation, type Resource, record, schemaRef, success, text, texts, time } from "./openapi.js";

interface AccessParts {
  readonly agent: string;
  readonly version: string;
  /** When the process began. */
  readonly started: string;
  /** What the configuration of the agent allows callers to do. */
  readonly features: {
    /** Files of agents can be read and changed. */
    readonly configuration_files: boolean;
    /** The configuration can be looked at and reloaded. */
    readonly reload: boolean;
  };
  readonly brokerTargets: readonly string[];
}

/** `GET /v1/access`: who the caller is to this agent, and which agent it is. */
export function accessResource({ agent, version, started, features, brokerTargets }: AccessParts): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/v1/access", (_request, response) => {
    const role: unknown = response.locals["role"];
    const targets = role === "read" ? {} : { broker_targets: brokerTargets };
    succeed(response, { role, agent, version, started, features: { ...features, ...targets } });
  });
  const get = operation({
    summary: "The rights of the caller, and which agent this is.",
    responses: { "200": answer("The rights.", schemaRef("Access")) },
  });
  const Access = record({
    success,
    role: { enum: ["open", "read", "admin"] },
    agent: text,
    version: text,
    started: time,
    features: record({ configuration_files: flag, reload: flag }, { broker_targets: texts }),
  });
  return { router, paths: { "/v1/access": { get } }, schemas: { Access } };
}
