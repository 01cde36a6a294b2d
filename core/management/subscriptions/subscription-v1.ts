import { badRequest } from "../refused-call.js";
import type { Fields } from "./fields.js";
import { empty, missing, refuseFirst } from "./messages.js";

/** Reads a subscription of NGSI v1; the function it returns throws the first refusal. */
export function readV1(subscription: Fields | undefined): () => void {
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
    refuseFirst([
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
