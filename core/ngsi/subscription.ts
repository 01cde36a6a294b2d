import { type JsonObject, toValue } from "./json.js";
import type { Entity, Notification } from "./model.js";

/** The notification of these entities, with the id of its subscription where the body has one. */
export function withSubscription({ subscriptionId }: JsonObject, entities: readonly Entity[]): Notification {
  if (subscriptionId === undefined || subscriptionId === null) return { entities };
  return { subscriptionId: toValue(subscriptionId).text, entities };
}
