import { isRecord } from "../../sdk/event.js";

/** What was found at a broker: enough to read or delete it, and no secrets that a subscription can hold. */
export interface FoundSubscription {
  readonly id: string;
  /** Null where the broker shows none. */
  readonly status: string | null;
}

/**
 * The subscriptions that say the same as the given one: the same id if it has one, else the same description, receiver
 * and entities. Brokers leave out or add members, so the others are not compared.
 */
export function subscriptionsLike(given: unknown, listed: readonly unknown[]): readonly FoundSubscription[] {
  const id = textIn(given, "id");
  const wanted = likeness(given);
  const { length } = entitiesOf(given);
  const isLike = (one: unknown) => entitiesOf(one).length === length && likeness(one) === wanted;
  return listed
    .filter((one) => (id === undefined ? isLike(one) : textIn(one, "id") === id))
    .flatMap((one) => {
      const found = textIn(one, "id");
      return found === undefined ? [] : [{ id: found, status: textIn(one, "status") ?? null }];
    });
}

/** Subscriptions that say the same have the same likeness. */
function likeness(subscription: unknown): string {
  const description = textIn(subscription, "description") ?? "";
  const notification = memberOf(subscription, "notification");
  const receivers = receiverNames.map((name) => memberOf(notification, name));
  const receiver = receivers.find((one) => one !== undefined);
  const url = textIn(receiver, "url") ?? textIn(receiver, "uri") ?? textIn(notification, "callback") ?? "";
  const texts = entitiesOf(subscription).map(entityLikeness).sort();
  return JSON.stringify([description, url, textIn(receiver, "topic") ?? "", texts]);
}

function entitiesOf(subscription: unknown): readonly unknown[] {
  const entities = memberOf(memberOf(subscription, "subject"), "entities") ?? memberOf(subscription, "entities");
  return Array.isArray(entities) ? entities : [];
}

const receiverNames = ["endpoint", "http", "httpCustom", "mqtt", "mqttCustom", "kafka", "kafkaCustom"] as const;

/** NGSI-LD brokers write types as names or as IRIs, and add the pattern that stands for every id. */
function entityLikeness(entity: unknown): string {
  const pattern = textIn(entity, "idPattern") ?? ".*";
  const type = textIn(entity, "type") ?? "";
  const shortType = type.slice(Math.max(type.lastIndexOf("/"), type.lastIndexOf("#"), type.lastIndexOf(":")) + 1);
  return JSON.stringify([textIn(entity, "id") ?? pattern, shortType, textIn(entity, "typePattern") ?? ""]);
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
}

function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : undefined;
}
