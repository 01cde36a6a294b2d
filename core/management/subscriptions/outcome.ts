import type { BrokerAnswer } from "../broker/broker-client.js";

/** How a call of a broker is told to the caller: success 'true' with status 200, else 'false'. */
export interface Outcome {
  readonly status: number;
  readonly payload: object;
}

export function done(result: unknown): Outcome {
  return { status: 200, payload: { result } };
}

/** What the broker said when it knows no such subscription; `fallback` where it said nothing. */
export function unknownSubscription({ body }: BrokerAnswer, fallback: object): Outcome {
  return { status: 404, payload: { result: body ?? fallback } };
}

/** Hands on why a broker refused. A broker that fails or speaks no JSON is no fault of the caller. */
export function relayed({ status, body }: BrokerAnswer): Outcome {
  if (body === undefined) {
    const description = `The broker answered with status ${status} and without JSON`;
    return { status: 502, payload: { result: { description, error: "BadGateway" } } };
  }
  return { status: status >= 400 && status < 500 ? 400 : 502, payload: { result: body } };
}
