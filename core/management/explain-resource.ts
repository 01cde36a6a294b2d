import { Router } from "express";
import type { ExplainRunning, PastedRequest, RunningExplanation } from "../agent/explain/explain-running.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { badRequest, HttpError } from "./answers.js";
import {
  answer,
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

const path = "/v1/admin/explain";

/** `POST /v1/admin/explain`: what the agent would do with a notification. It needs an admin token, because it runs plugins. */
export function explainResource(explaining: Pick<ExplainRunning, "explain">): Resource {
  const router = Router({ caseSensitive: true });
  router.post(path, async (request, response) => {
    const explanation = await explained(explaining, requestIn(jsonBody(request)));
    const text = JSON.stringify({ success: "true", ...explanation }, nullForUndefined);
    response.status(200).set("Content-Type", "application/json; charset=utf-8").end(text);
  });
  const post = operation({
    summary: "Explains what the running configuration would do with a notification, and stores nothing.",
    requestBody: { required: true, content: { "application/json": { schema: schemaRef("ExplainRequest") } } },
    responses: {
      "200": answer("Its events, their channels and what each sink would send.", schemaRef("Explained")),
      "400": failure("The body is wrong."),
      "404": failure("There is no such source with a handler."),
      "503": failure("Two explanations are made already."),
    },
  });
  return { router, paths: { [path]: { post } }, schemas };
}

/** JSON has no undefined, and a list keeps its length. */
function nullForUndefined(_key: string, value: unknown): unknown {
  return value === undefined ? null : value;
}

async function explained(
  explaining: Pick<ExplainRunning, "explain">,
  request: PastedRequest,
): Promise<RunningExplanation> {
  try {
    return await explaining.explain(request);
  } catch (cause) {
    const status = statuses.get(codeOf(cause) ?? "");
    if (status === undefined) throw cause;
    throw new HttpError(status, { error: reasonOf(cause) }, { cause });
  }
}

const statuses: ReadonlyMap<string, number> = new Map([
  ["NO_SUCH_SOURCE", 404],
  ["TOO_MANY_EXPLANATIONS", 503],
]);

const members: ReadonlySet<string> = new Set(["body", "headers", "path", "source", "method"]);

function requestIn(given: unknown): PastedRequest {
  const call = asObject(given) ?? {};
  refuseUnknownMembers(call, members);
  const { body, source, path: target, method = "POST" } = call;
  if (body === undefined) throw badRequest("Missing member body, the text of a notification");
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  if (![source, target, method].every((value) => value === undefined || isText(value))) {
    throw badRequest("Invalid member. source, path and method are texts that are not empty");
  }
  return {
    method: String(method).toUpperCase(),
    headers: { "content-type": "application/json", ...headersIn(call["headers"]) },
    body: Buffer.from(typeof body === "string" ? body : textOf(body)),
    ...(typeof target === "string" ? { path: target } : {}),
    ...(typeof source === "string" ? { source } : {}),
  };
}

/** What is read without a limit of depth cannot always be written. */
function textOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    throw badRequest("Invalid member. body is nested too deeply");
  }
}

function headersIn(given: unknown): Readonly<Record<string, string>> {
  const headers = Object.entries(given === undefined ? {} : (asObject(given) ?? { "": 0 }));
  if (headers.every((field): field is [string, string] => typeof field[1] === "string")) {
    return Object.fromEntries(headers.map(([name, value]) => [name.trim().toLowerCase(), value.trim()]));
  }
  throw badRequest("Invalid member. headers is an object of texts");
}

const objects = listOf({ type: "object" });
const explanation = record({ writes: objects, statements: objects, notes: texts });
const sink = record({ sink: text, type: text }, { explanation, failure: text });

const schemas = {
  ExplainRequest: {
    type: "object",
    required: ["body"],
    properties: {
      body: { type: ["string", "object"] },
      headers: { type: "object", additionalProperties: text },
      path: text,
      source: text,
      method: text,
    },
    additionalProperties: false,
  },
  Explained: record({
    success,
    events: listOf(
      record({
        source: text,
        event: { type: "object" },
        channels: texts,
        sinks: listOf(sink),
      }),
    ),
    refused: listOf(record({ source: text, status: { type: "integer" }, cause: text, reason: text })),
    complete: flag,
  }),
};
