import type { BrokerApi } from "./broker-api.js";
import { type Caller, fiwareHeaders, givenHeaders } from "./caller.js";
import { createdResource, deletedResource, jsonPost, resourcePath } from "./rest-subscriptions.js";
import { readLd } from "./subscription-ld.js";

const collection = "/ngsi-ld/v1/subscriptions";

export const apiLd: BrokerApi = {
  check: readLd,
  creation: (subscription, caller) => jsonPost(collection, subscription, creationHeaders(subscription, caller)),
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

/** A context stands in the payload or in the Link header, never in both. */
function creationHeaders(subscription: unknown, caller: Caller): Readonly<Record<string, string>> {
  const inPayload = typeof subscription === "object" && subscription !== null && "@context" in subscription;
  if (!inPayload) return ldHeaders(caller);
  return { ...ldHeaders({ ...caller, link: undefined }), "Content-Type": "application/ld+json" };
}

function ldHeaders(caller: Caller): Readonly<Record<string, string>> {
  return { ...fiwareHeaders(caller), ...givenHeaders({ "NGSILD-Tenant": caller.tenant, Link: caller.link }) };
}
