import { type Request, type RequestHandler, type Response, Router } from "express";
import { badRequest, HttpError, sendExact } from "../answers.js";
import type { Resource } from "../openapi.js";
import { bodyOf, disconnected, jsonBody, parameterError, parameterOf } from "../requests.js";
import { adminOnly } from "../security/access.js";
import { allSubscriptions } from "./all-subscriptions.js";
import { apiLd } from "./api-ld.js";
import { apiV1 } from "./api-v1.js";
import { apiV2 } from "./api-v2.js";
import { type BrokerApi, brokerFailure, callerOf, done, type Outcome, relayed } from "./broker-api.js";
import type { BrokerAnswer, BrokerClient } from "./broker-client.js";
import { Creations } from "./creations.js";
import { checkedEndpoint, checkToken, type GivenEndpoint, readEndpoint } from "./endpoint.js";
import { Fields, invalidVersion } from "./fields.js";
import { memberText } from "./member-text.js";
import { readResource } from "./rest-subscriptions.js";
import { subscriptionPaths as paths, subscriptionSchemas as schemas } from "./subscriptions-openapi.js";

/** By the value of the parameter ngsi_version. */
const brokerApis: ReadonlyMap<string, BrokerApi> = new Map([
  ["1", apiV1],
  ["2", apiV2],
  ["ld", apiLd],
]);

/** `/v1/subscriptions`: checks a call, calls the broker that it names, and answers with the outcome. */
export function subscriptionsResource(brokers: BrokerClient): Resource {
  const router = Router({ caseSensitive: true });
  const creations = new Creations(brokers);
  router.post(
    "/v1/subscriptions",
    answering(brokers, (call) => create(call, creations)),
  );
  router.get("/v1/subscriptions", adminOnly, answering(brokers, read));
  // A browser sends no body with GET.
  router.post("/v1/subscriptions/list", answering(brokers, read));
  router.delete("/v1/subscriptions", answering(brokers, remove));
  return { router, paths, schemas };
}

interface Call {
  readonly request: Request;
  readonly response: Response;
  readonly brokers: BrokerClient;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

async function create({ request, response }: Call, creations: Creations): Promise<Outcome> {
  const api = requiredVersion(request);
  const payload = Fields.of(jsonBody(request));
  const checkSubscription = api.check(payload.object("subscription"));
  const given = readEndpoint(payload.object("endpoint"));
  checkSubscription();
  const endpoint = checkedEndpoint(given);
  const text = memberText(bodyOf(request), "subscription") ?? "";
  const subscription = { text, members: payload.value("subscription") };
  return await creations.create({ api, endpoint, subscription, caller: callerOf(request, response) });
}

async function remove({ request, response, brokers, signal }: Call): Promise<Outcome> {
  const id = requiredParameter(request, "subscription_id");
  const api = requiredVersion(request, ".");
  const given = bareEndpoint(request);
  const endpoint = checkedEndpoint(given);
  checkToken(given);
  const answer = await brokers.call(endpoint, api.deletion(id, callerOf(request, response)), signal);
  return given.token === undefined && wantsToken(answer) ? tokenMissing(answer) : api.deleted(answer);
}

function wantsToken({ status }: BrokerAnswer): boolean {
  return status === 401 || status === 403;
}

function tokenMissing({ body }: BrokerAnswer): Outcome {
  const error = "Missing Auth-Token. Required for DELETE subscriptions";
  return { status: 400, payload: body === undefined ? { error } : { error, result: body } };
}

async function read(call: Call): Promise<Outcome> {
  const { request, response, brokers, signal } = call;
  const { reading } = versionToRead(request);
  const id = parameterOf(request, "subscription_id");
  if (reading === undefined) throw notImplemented(id);
  if (id === "") throw parameterError("empty", "subscription_id");
  const endpoint = checkedEndpoint(bareEndpoint(request));
  const caller = callerOf(request, response);
  if (id !== undefined) return readResource(await brokers.call(endpoint, reading.one(id, caller), signal));
  const listed = await allSubscriptions({ brokers, endpoint, reading, caller, signal });
  return "answer" in listed ? relayed(listed.answer) : done({ result: listed.subscriptions });
}

function notImplemented(id: string | undefined): HttpError {
  const message = "GET /v1/subscriptions not implemented";
  return new HttpError(501, { error: id === undefined ? `${message} for NGSI version 1` : message });
}

/** The endpoint as the whole body, or as its member `endpoint`. */
function bareEndpoint(request: Request): GivenEndpoint {
  const body = jsonBody(request);
  if (body === undefined) return readEndpoint(undefined);
  const fields = Fields.of(body);
  return readEndpoint(fields.has("endpoint") ? fields.object("endpoint") : fields);
}

function answering(brokers: BrokerClient, operation: (call: Call) => Promise<Outcome>): RequestHandler {
  return async (request, response) => {
    const signal = disconnected(response);
    const { status, payload } = await outcomeOf(operation({ request, response, brokers, signal }));
    sendExact(response, status, payload);
  };
}

async function outcomeOf(operation: Promise<Outcome>): Promise<Outcome> {
  try {
    return await operation;
  } catch (error) {
    const failure = brokerFailure(error);
    if (failure === undefined) throw error;
    return failure;
  }
}

/** The API that ngsi_version names, for POST and DELETE; `end` is appended to the message about an unknown version. */
function requiredVersion(request: Request, end = ""): BrokerApi {
  const version = requiredParameter(request, "ngsi_version");
  return versionOf(version, end);
}

/** For GET, whose messages differ between a missing and an empty parameter. */
function versionToRead(request: Request): BrokerApi {
  const version = parameterOf(request, "ngsi_version");
  if (version === undefined) throw parameterError("missing", "ngsi_version");
  if (version === "") throw parameterError("empty", "ngsi_version");
  return versionOf(version, "");
}

function requiredParameter(request: Request, name: string): string {
  const value = parameterOf(request, name);
  if (value === undefined || value === "") throw parameterError("wrong", name);
  return value;
}

function versionOf(version: string, end: string): BrokerApi {
  const api = brokerApis.get(version);
  if (api === undefined) throw badRequest(`${invalidVersion}${end}`);
  return api;
}
