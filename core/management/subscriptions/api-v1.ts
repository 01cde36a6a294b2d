import type { BrokerAnswer } from "../broker/broker-client.js";
import type { BrokerApi } from "./broker-api.js";
import { fiwareHeaders } from "./caller.js";
import { done, type Outcome, relayed, unknownSubscription } from "./outcome.js";
import { jsonPost } from "./rest-subscriptions.js";
import { readV1 } from "./subscription-v1.js";

/** NGSI v1: every operation is a POST, and the outcome stands in the body. */
export const apiV1: BrokerApi = {
  check: readV1,
  creation: (subscription, caller) => jsonPost("/v1/subscribeContext", subscription, fiwareHeaders(caller)),
  created,
  deletion: (subscriptionId, caller) => jsonPost("/v1/unsubscribeContext", { subscriptionId }, fiwareHeaders(caller)),
  deleted,
  reading: undefined,
};

/** A `subscribeError` is documented to be told with success 'true'. */
function created(answer: BrokerAnswer): Outcome {
  const { status, body } = answer;
  const told = body !== undefined && ("subscribeResponse" in body || "subscribeError" in body);
  return status === 200 && told ? done(body) : relayed(refusalIn(answer));
}

function deleted(answer: BrokerAnswer): Outcome {
  const code = codeIn(answer.body, "statusCode");
  if (answer.status === 200 && (code === "200" || code === "204")) return done("Subscription deleted");
  if (answer.status === 404 || code === "404") return unknownSubscription(answer, {});
  return relayed(refusalIn(answer));
}

/** These brokers answer 200 to what they refuse; then the status stands in the body. */
function refusalIn(answer: BrokerAnswer): BrokerAnswer {
  const code = codeIn(answer.body, "orionError") ?? codeIn(answer.body, "statusCode");
  return code === undefined || answer.status !== 200 ? answer : { ...answer, status: Number(code) };
}

function codeIn(body: object | undefined, member: string): string | undefined {
  const holder: unknown = body === undefined ? undefined : Reflect.get(body, member);
  if (typeof holder !== "object" || holder === null || !("code" in holder)) return undefined;
  return String(holder.code);
}
