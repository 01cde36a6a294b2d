/** Complete subscriptions of each API. */
export const v1 = {
  entities: [{ type: "Room", isPattern: "false", id: "Room1" }],
  attributes: [],
  reference: "http://127.0.0.1:5050/notify",
  duration: "P1M",
  notifyConditions: [{ type: "ONCHANGE", condValues: ["temperature"] }],
  throttling: "PT5S",
};

export const v2 = {
  description: "One subscription",
  subject: {
    entities: [{ idPattern: ".*", type: "Room" }],
    condition: { attrs: ["temperature"], expression: { q: "temperature>40" } },
  },
  notification: { http: { url: "http://127.0.0.1:5050/notify" }, attrs: ["temperature"] },
  expires: "2030-04-05T14:00:00.00Z",
  throttling: 5,
};

export const ld = {
  type: "Subscription",
  entities: [{ type: "Room" }],
  notification: { endpoint: { uri: "http://127.0.0.1:5050/notify", accept: "application/json" } },
  "@context": "http://context/a.jsonld",
};

export const subscriptions = { "1": v1, "2": v2, ld } as const;

type Version = keyof typeof subscriptions;

/** A complete call of each operation. */
export const requests = {
  create: (version: Version, endpoint: object) => ({
    method: "POST",
    path: `/v1/subscriptions?ngsi_version=${version}`,
    body: JSON.stringify({ subscription: subscriptions[version], endpoint }),
  }),
  one: (version: Version, endpoint: object) => ({
    method: "GET",
    path: `/v1/subscriptions?ngsi_version=${version}&subscription_id=x`,
    body: JSON.stringify(endpoint),
  }),
  all: (version: Version, endpoint: object) => ({
    method: "GET",
    path: `/v1/subscriptions?ngsi_version=${version}`,
    body: JSON.stringify(endpoint),
  }),
  delete: (version: Version, endpoint: object) => ({
    method: "DELETE",
    path: `/v1/subscriptions?subscription_id=x&ngsi_version=${version}`,
    body: JSON.stringify(endpoint),
  }),
};

/** A copy without the member at the path. */
export function without(payload: object, path: string): object {
  return changed(payload, path.split("."), undefined);
}

/** A copy with another value at the path. */
export function having(payload: object, path: string, value: unknown): object {
  return changed(payload, path.split("."), value);
}

function changed(value: object, [name = "", ...rest]: readonly string[], to: unknown): object {
  const inner: unknown = Reflect.get(value, name);
  const next = rest.length === 0 || typeof inner !== "object" || inner === null ? to : changed(inner, rest, to);
  return Array.isArray(value) ? value.with(Number(name), next) : { ...value, [name]: next };
}
