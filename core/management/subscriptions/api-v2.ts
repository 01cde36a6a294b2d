import type { BrokerApi } from "./broker-api.js";
import { fiwareHeaders } from "./caller.js";
import { createdResource, deletedResource, jsonPost, resourcePath } from "./rest-subscriptions.js";
import { readV2 } from "./subscription-v2.js";

const collection = "/v2/subscriptions";

export const apiV2: BrokerApi = {
  check: readV2,
  creation: (subscription, caller) => jsonPost(collection, subscription, fiwareHeaders(caller)),
  created: createdResource,
  deletion: (id, caller) => ({
    method: "DELETE",
    path: resourcePath(collection, id),
    headers: fiwareHeaders(caller),
  }),
  deleted: deletedResource,
  reading: {
    one: (id, caller) => ({ method: "GET", path: resourcePath(collection, id), headers: fiwareHeaders(caller) }),
    page: ({ limit, offset }, caller) => ({
      method: "GET",
      path: `${collection}?limit=${limit}&offset=${offset}&options=count`,
      headers: fiwareHeaders(caller),
    }),
    countHeader: "fiware-total-count",
  },
};
