import type { BrokerReply, Replying, SeenCall } from "./broker.js";

/** What a broker does with a subscription that it has stored. */
export type Answering = (created: BrokerReply, call: SeenCall) => ReturnType<Replying>;

export interface StoringBroker {
  readonly replying: Replying;
  /** By service; each as the broker lists it. */
  readonly stored: ReadonlyMap<string, readonly object[]>;
}

/** A broker of NGSI v2 and NGSI-LD below a path prefix, which stores subscriptions and answers the creation as told. */
export function storingBroker(answering: Answering, prefix = ""): StoringBroker {
  const stored = new Map<string, readonly object[]>();
  const replying: Replying = (call) => {
    const { pathname } = new URL(call.url, "http://broker");
    const [, collection] =
      /^(\/v2\/subscriptions|\/ngsi-ld\/v1\/subscriptions)$/.exec(pathname.replace(prefix, "")) ?? [];
    if (collection === undefined || !pathname.startsWith(prefix)) return { status: 404, body: { error: "NotFound" } };
    const service = String(call.headers["fiware-service"] ?? "");
    const own = stored.get(service) ?? [];
    if (call.method !== "POST") return { status: 200, body: own };
    const id = `s${own.length + 1}`;
    stored.set(service, [...own, listed(JSON.parse(call.body), id)]);
    return answering({ status: 201, headers: { Location: `${prefix}${collection}/${id}` } }, call);
  };
  return { replying, stored };
}

/** As brokers list it: types as IRIs in NGSI-LD, a pattern for every id, and counts of their own. */
function listed(subscription: object, id: string): object {
  const entities: unknown = Reflect.get(subscription, "entities");
  const status = { id, status: "active", timesSent: 0 };
  if (!Array.isArray(entities)) return { ...subscription, ...status };
  const expanded = entities.map((entity) => ({
    idPattern: ".*",
    ...entity,
    type: `https://uri.etsi.org/ngsi-ld/default-context/${entity.type}`,
  }));
  return { ...subscription, entities: expanded, ...status };
}
