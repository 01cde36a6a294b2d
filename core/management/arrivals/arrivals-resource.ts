import { type Request, type Response, Router } from "express";
import type { ArrivalSample } from "../../agent/arrivals/arrival-sample.js";
import type { SampleOptions } from "../../agent/arrivals/sample-taker.js";
import { badRequest, succeed } from "../answers.js";
import type { Resource } from "../openapi.js";
import { asObject, countOf, jsonBody, refuseUnknownMembers } from "../requests.js";
import { adminOnly } from "../security/access.js";
import { arrivalPaths as paths, arrivalSchemas as schemas } from "./arrivals-openapi.js";

const path = "/v1/admin/arrivals";
const defaultLimit = 100;
const largestLimit = 500;
const longestSeconds = 3600;
const mostBytes = 16_384;

/**
 * `/v1/admin/arrivals`: what arrives at the sources now. `PUT` begins a sample, `DELETE` ends and clears it, `GET` reads it; an
 * admin token is needed to read it too, since it holds parts of notifications.
 */
export function arrivalsResource(sample: ArrivalSample): Resource {
  const router = Router({ caseSensitive: true });
  router.get(path, adminOnly, (request, response) => show(sample, request, response));
  router.put(path, (request, response) => {
    sample.begin(optionsIn(jsonBody(request) ?? {}));
    show(sample, request, response);
  });
  router.delete(path, (_request, response) => {
    sample.clear();
    succeed(response, { on: false });
  });
  return { router, paths, schemas };
}

function show(sample: ArrivalSample, request: Request, response: Response): void {
  const limit = Math.min(countOf(request, "limit", defaultLimit), largestLimit);
  const arrivals = sample.after(countOf(request, "after", 0), limit);
  const { on, until, seen, skipped, options, last } = sample.state;
  succeed(response, {
    on,
    ...(until === undefined ? {} : { until: until.toISOString() }),
    seen,
    skipped,
    last: arrivals.at(-1)?.seq ?? last,
    ...(options === undefined ? {} : { filter: options }),
    arrivals,
  });
}

const members: ReadonlySet<string> = new Set(["seconds", "bytes", "result", "source", "service", "entity"]);

function optionsIn(body: unknown): SampleOptions {
  const given = asObject(body) ?? { none: body };
  refuseUnknownMembers(given, members);
  const { result = "all" } = given;
  if (result !== "all" && result !== "accepted" && result !== "refused") {
    throw badRequest("Invalid member. result is all, accepted or refused");
  }
  return {
    seconds: numberIn(given, "seconds", { otherwise: 300, least: 1, most: longestSeconds }),
    bytes: numberIn(given, "bytes", { otherwise: 2048, least: 0, most: mostBytes }),
    result,
    ...textIn(given, "source"),
    ...textIn(given, "service"),
    ...textIn(given, "entity"),
  };
}

type Given = Readonly<Record<string, unknown>>;

function numberIn(
  given: Given,
  name: string,
  { otherwise, least, most }: { readonly otherwise: number; readonly least: number; readonly most: number },
): number {
  const value = given[name] ?? otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw badRequest(`Invalid member. ${name} is a whole number from ${least} to ${most}`);
}

function textIn(given: Given, name: "source" | "service" | "entity"): Partial<SampleOptions> {
  const value = given[name];
  if (value === undefined || value === "") return {};
  if (typeof value === "string" && value.length <= 1000) return { [name]: value };
  throw badRequest(`Invalid member. ${name} is a text of 1000 characters at most`);
}
