import { badRequest } from "../answers.js";
import { type BrokerApi, type Caller, fiwareHeaders, givenHeaders, type NewSubscription } from "./broker-api.js";
import { empty, type Fields, missing, throwFirst } from "./fields.js";
import { createdResource, deletedResource, jsonPost, resourcePath } from "./rest-subscriptions.js";

const collection = "/ngsi-ld/v1/subscriptions";

export const apiLd: BrokerApi = {
  check: readLd,
  creation: (subscription, caller) => jsonPost(collection, subscription.text, creationHeaders(subscription, caller)),
  created: createdResource,
  deletion: (id, caller) => ({ method: "DELETE", path: resourcePath(collection, id), headers: ldHeaders(caller) }),
  deleted: deletedResource,
  reading: {
    one: (id, caller) => ({ method: "GET", path: resourcePath(collection, id), headers: ldHeaders(caller) }),
    page: ({ limit, offset }, caller) => ({
      method: "GET",
      path: `${collection}?limit=${limit}&offset=${offset}&count=true`,
      headers: ldHeaders(caller),
    }),
    countHeader: "ngsild-results-count",
  },
};

/** A context is either in the payload or in the Link header, never in both. */
function creationHeaders({ members }: NewSubscription, caller: Caller): Readonly<Record<string, string>> {
  const inPayload = typeof members === "object" && members !== null && "@context" in members;
  if (!inPayload) return ldHeaders(caller);
  return { ...ldHeaders({ ...caller, link: undefined }), "Content-Type": "application/ld+json" };
}

function ldHeaders(caller: Caller): Readonly<Record<string, string>> {
  return { ...fiwareHeaders(caller), ...givenHeaders({ "NGSILD-Tenant": caller.tenant, Link: caller.link }) };
}

/** Reads a subscription of NGSI-LD; the function it returns throws the error of the first check that fails. */
function readLd(subscription: Fields | undefined): () => void {
  const type = subscription?.text("type");
  const entities = subscription?.objects("entities");
  const watched = subscription?.list("watchedAttributes");
  const notification = subscription?.object("notification");
  const endpoint = notification?.object("endpoint");
  const uri = endpoint?.text("uri");
  return () => {
    if (subscription === undefined || subscription.isEmpty) throw badRequest("Missing subscription");
    throwFirst([
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
