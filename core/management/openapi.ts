import { Router } from "express";
import { sendJson } from "./answers.js";

/** A part of the management interface: its routes, and their description in OpenAPI. */
export interface Resource {
  readonly router: Router;
  readonly paths: Paths;
  /** The schemas that only its paths refer to, by name. */
  readonly schemas: Schemas;
}

type Schemas = Readonly<Record<string, object>>;

/** The description of an operation. */
export interface Operation {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  /** By status. */
  readonly responses: Readonly<Record<string, object>>;
  /** Empty for an operation that needs no token. */
  readonly security?: readonly [];
}

/** By path, then by method in lower case. */
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** An operation; the answers that every call can get are added. */
export function operation(description: Operation): Operation {
  return { ...description, responses: { ...description.responses, ...commonAnswers } };
}

/** An operation that needs no token. */
export function openOperation(description: Operation): Operation {
  const { "401": _token, ...others } = commonAnswers;
  return { ...description, responses: { ...description.responses, ...others }, security: [] };
}

export function answer(description: string, schema: object): object {
  return { description, content: { "application/json": { schema } } };
}

export function failure(description: string): object {
  return answer(description, schemaRef("Failure"));
}

export function schemaRef(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

export function queryParameter(name: string, description: string, schema: object, required = false): object {
  return { name, in: "query", required, description, schema };
}

const commonAnswers = {
  "401": failure(
    "Tokens are configured and the request has none of them. Answers to wrong tokens are delayed, or have status 429.",
  ),
  "403": failure("The token may only read, the call comes from a page in a browser, or the broker is not allowed."),
  "421": failure("The header Host names a host that the interface does not have; see --management-hosts."),
  "413": failure("The body is larger than --management-body-limit."),
} as const;

export const text = { type: "string" } as const;
export const count = { type: "integer", minimum: 0 } as const;
export const success = { const: "true" } as const;

export const flag = { type: "boolean" } as const;
export const time = { type: "string", format: "date-time" } as const;
export const texts = listOf(text);

export function listOf(items: object): object {
  return { type: "array", items };
}

type Properties = Readonly<Record<string, object>>;

/** An object with members that it always has, and others that it can have. */
export function record(always: Properties, others: Properties = {}): object {
  const required = Object.keys(always);
  return { type: "object", ...(required.length === 0 ? {} : { required }), properties: { ...always, ...others } };
}

const commonSchemas: Schemas = {
  Success: record({ success }),
  Result: record({ success, result: {} }),
  Failure: {
    ...record({ success: { const: "false" } }, { error: text, result: {} }),
    anyOf: [{ required: ["error"] }, { required: ["result"] }],
  },
};

const ownPaths: Paths = {
  "/openapi.json": {
    get: operation({
      summary: "This document.",
      responses: { "200": answer("The document.", { type: "object" }) },
    }),
  },
};

/** `GET /openapi.json`: the resources, and this one, described in OpenAPI 3.1. */
export function openapiResource(version: string, resources: readonly Resource[]): Resource {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Deneb management interface",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [] }, {}],
    paths: Object.assign({}, ...resources.map(({ paths }) => paths), ownPaths),
    components: {
      schemas: Object.assign({}, commonSchemas, ...resources.map(({ schemas }) => schemas)),
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
  const router = Router({ caseSensitive: true });
  router.get("/openapi.json", (_request, response) => sendJson(response, 200, document));
  return { router, paths: ownPaths, schemas: commonSchemas };
}
