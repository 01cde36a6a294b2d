import type { Request, Response } from "express";
import { codeOf, reasonOf } from "../../sdk/index.js";
import type { BrokerAnswer, BrokerRequest } from "./broker-client.js";
import type { Fields } from "./fields.js";

/** The differences between the APIs of brokers. */
export interface BrokerApi {
  /** Reads a subscription, and throws for members of the wrong type; the function it returns makes the other checks. */
  readonly check: (subscription: Fields | undefined) => () => void;
  readonly creation: (subscription: NewSubscription, caller: Caller) => BrokerRequest;
  readonly created: (answer: BrokerAnswer) => Outcome;
  readonly deletion: (id: string, caller: Caller) => BrokerRequest;
  readonly deleted: (answer: BrokerAnswer) => Outcome;
  /** Undefined for an API without reading. */
  readonly reading: Reading | undefined;
}

/** A subscription as the caller sent it. */
export interface NewSubscription {
  /** Its JSON text, byte for byte; what the broker gets. */
  readonly text: string;
  readonly members: unknown;
}

export interface Reading {
  readonly one: (id: string, caller: Caller) => BrokerRequest;
  readonly page: (window: PageWindow, caller: Caller) => BrokerRequest;
  /** Name of the header with the number of all subscriptions, in lower case. */
  readonly countHeader: string;
}

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** The headers of a management request that determine the owner of the subscription; they are forwarded to the broker. */
export interface Caller {
  readonly service: string | undefined;
  readonly servicePath: string | undefined;
  readonly tenant: string | undefined;
  readonly link: string | undefined;
  readonly correlator: string | undefined;
}

export function callerOf(request: Request, response: Response): Caller {
  return {
    service: request.get("fiware-service"),
    servicePath: request.get("fiware-servicepath"),
    tenant: request.get("ngsild-tenant") || request.get("fiware-service"),
    link: request.get("link"),
    correlator: response.get("fiware-correlator"),
  };
}

/** The headers that have a value. */
export function givenHeaders(headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]])),
  );
}

/** The headers that the NGSI brokers share. */
export function fiwareHeaders({ service, servicePath, correlator }: Caller): Readonly<Record<string, string>> {
  return givenHeaders({
    "Fiware-Service": service,
    "Fiware-ServicePath": servicePath,
    "Fiware-Correlator": correlator,
  });
}

/** The answer to the caller about a call of a broker: success 'true' with status 200, else 'false'. */
export interface Outcome {
  readonly status: number;
  readonly payload: object;
}

export function done(result: unknown): Outcome {
  return { status: 200, payload: { result } };
}

/** The answer of a broker that does not know the subscription; `fallback` if its answer says nothing. */
export function unknownSubscription({ body }: BrokerAnswer, fallback: object): Outcome {
  return { status: 404, payload: { result: body === undefined || isEmpty(body) ? fallback : body } };
}

/** Forwards the error of a broker. A broker that fails or does not answer with JSON is not an error of the caller. */
export function relayed({ status, body }: BrokerAnswer): Outcome {
  if (body === undefined) return silent(502, `The broker answered with status ${status} and without JSON`);
  const answered = status >= 400 && status < 500 ? 400 : 502;
  if (isEmpty(body)) return silent(answered, `The broker answered with status ${status} and gave no reason`);
  return { status: answered, payload: { result: body } };
}

/** The outcome of an answer that does not say what is wrong. */
function silent(status: 400 | 502, description: string): Outcome {
  return { status, payload: { result: { description, error: status === 400 ? "BadRequest" : "BadGateway" } } };
}

function isEmpty(body: object): boolean {
  return Object.keys(body).length === 0;
}

/** The answer about a broker that could not be called; undefined for any other error. */
export function brokerFailure(error: unknown): Outcome | undefined {
  const status = statuses.get(codeOf(error));
  return status === undefined ? undefined : { status, payload: { error: reasonOf(error) } };
}

const statuses: ReadonlyMap<string | undefined, number> = new Map([
  ["BROKER_NOT_ALLOWED", 403],
  ["BROKER_UNREACHABLE", 502],
  ["BROKER_HUNG_UP", 502],
  ["BROKER_ANSWER_TOO_LARGE", 502],
  ["BROKER_TIMEOUT", 504],
]);
