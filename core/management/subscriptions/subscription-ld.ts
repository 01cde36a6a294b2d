import { badRequest } from "../refused-call.js";
import type { Fields } from "./fields.js";
import { empty, missing, refuseFirst } from "./messages.js";

/** Reads a subscription of NGSI-LD; the function it returns throws the first refusal. */
export function readLd(subscription: Fields | undefined): () => void {
  const type = subscription?.text("type");
  const entities = subscription?.objects("entities");
  const watched = subscription?.list("watchedAttributes");
  const notification = subscription?.object("notification");
  const endpoint = notification?.object("endpoint");
  const uri = endpoint?.text("uri");
  return () => {
    if (subscription === undefined || subscription.isEmpty) throw badRequest("Missing subscription");
    refuseFirst([
      missing("type", type),
      empty("type", type),
      [type !== "Subscription", "type", "invalid"],
      missing("entities", entities ?? watched),
      [entities?.length === 0, "entities", "is empty"],
      missing("notification", notification),
      missing("endpoint", endpoint),
      missing("uri", uri),
      empty("uri", uri),
    ]);
  };
}
