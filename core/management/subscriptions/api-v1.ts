import { badRequest } from "../answers.js";
import { type BrokerApi, done, fiwareHeaders, type Outcome, relayed, unknownSubscription } from "./broker-api.js";
import type { BrokerAnswer } from "./broker-client.js";
import { empty, type Fields, missing, throwFirst } from "./fields.js";
import { jsonPost } from "./rest-subscriptions.js";

/** NGSI v1: every operation is a POST, and the body holds the outcome. */
export const apiV1: BrokerApi = {
  check: readV1,
  creation: (subscription, caller) => jsonPost("/v1/subscribeContext", subscription.text, fiwareHeaders(caller)),
  created,
  deletion: (subscriptionId, caller) =>
    jsonPost("/v1/unsubscribeContext", JSON.stringify({ subscriptionId }), fiwareHeaders(caller)),
  deleted,
  reading: undefined,
};

/** A `subscribeError` is documented to be answered with success 'true'. */
function created(answer: BrokerAnswer): Outcome {
  const { status, body } = answer;
  const known = body !== undefined && ("subscribeResponse" in body || "subscribeError" in body);
  return status === 200 && known ? done(body) : relayed(errorIn(answer));
}

function deleted(answer: BrokerAnswer): Outcome {
  const code = codeIn(answer.body, "statusCode");
  if (answer.status === 200 && (code === "200" || code === "204")) return done("Subscription deleted");
  // A 404 without a code comes from a broker that has no NGSI v1: it says nothing of the subscription.
  if (code === "404") return unknownSubscription(answer, {});
  return relayed(errorIn(answer));
}

/** These brokers also answer errors with 200; the body then holds the status. */
function errorIn(answer: BrokerAnswer): BrokerAnswer {
  const code = codeIn(answer.body, "orionError") ?? codeIn(answer.body, "statusCode");
  return code === undefined || answer.status !== 200 ? answer : { ...answer, status: Number(code) };
}

function codeIn(body: object | undefined, member: string): string | undefined {
  const holder: unknown = body === undefined ? undefined : Reflect.get(body, member);
  if (typeof holder !== "object" || holder === null || !("code" in holder)) return undefined;
  return String(holder.code);
}

/** Reads a subscription of NGSI v1; the function it returns throws the error of the first check that fails. */
function readV1(subscription: Fields | undefined): () => void {
  const entities = subscription?.objects("entities")?.map((entity) => textsOf(entity, ["type", "isPattern", "id"]));
  const conditions = subscription?.objects("notifyConditions")?.map((condition) => ({
    type: condition.text("type"),
    values: condition.list("condValues"),
  }));
  const attributes = subscription?.list("attributes");
  const reference = subscription?.text("reference");
  const duration = subscription?.text("duration");
  const throttling = subscription?.text("throttling");
  const entityTexts = entities?.flat() ?? [];
  const conditionMembers = conditions?.flatMap(({ type, values }) => [type, values]) ?? [];
  return () => {
    if ([entities, conditions, reference, duration, throttling].every((member) => member === undefined)) {
      throw badRequest("Missing subscription");
    }
    throwFirst([
      [entities === undefined || entities.length === 0, "entities", "is missing"],
      [entityTexts.includes(undefined), "entities", "has missing fields"],
      [entityTexts.includes(""), "entities", "has empty fields"],
      missing("reference", reference),
      missing("duration", duration),
      [conditions === undefined || conditions.length === 0, "notifyConditions", "is missing"],
      [conditionMembers.includes(undefined), "notifyConditions", "has missing fields"],
      [conditionMembers.includes(""), "notifyConditions", "has empty fields"],
      missing("throttling", throttling),
      missing("attributes", attributes),
      empty("reference", reference),
      empty("duration", duration),
      empty("throttling", throttling),
    ]);
  };
}

function textsOf(fields: Fields, names: readonly string[]): readonly (string | undefined)[] {
  return names.map((name) => fields.text(name));
}
