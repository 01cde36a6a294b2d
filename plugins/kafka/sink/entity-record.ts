import { type Entity, entityJson, entityOf, entityValuesJson, eventHeaders } from "deneb/ngsi";
import { type Event, type Explanation, traceHeaders } from "deneb/sdk";
import type { KafkaSinkConfig } from "./config.js";
import { parseTopic, type TopicTemplate, topicOf } from "./topic-template.js";

/** The header by which readers tell a record that came before: the id of its event. */
const eventIdHeader = "deneb-event-id";

/** One record for one event. */
export interface EntityRecord {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Milliseconds since 1970 at which the notification was received; undefined where the event does not say. */
  readonly timestamp: number | undefined;
}

/** The record of an event. Throws for an event that is no entity, or whose topic cannot be. */
export function entityRecord(
  event: Event,
  { topic, config, id }: { readonly topic: TopicTemplate; readonly config: KafkaSinkConfig; readonly id?: string },
): EntityRecord {
  const entity = entityOf(event);
  const received = Number(event.headers[eventHeaders.timestamp]);
  return {
    topic: topicOf(topic, event),
    key: config.key === "id" ? entity.id : entityKey(event, entity),
    value: config.value === "keyValues" ? entityValuesJson(entity) : entityJson(entity),
    headers: new Map(headersOf(event, entity, id)),
    timestamp: Number.isSafeInteger(received) && received > 0 ? received : undefined,
  };
}

/** The record that the sink would write for an event; its id is given when it is delivered. */
export function explainRecord(config: KafkaSinkConfig, event: Event): Explanation {
  const { topic, key, value, headers } = entityRecord(event, { topic: parseTopic(config.topic), config });
  const row = [key, value, ...headers.values()];
  const columns = ["key", "value", ...[...headers.keys()].map((name) => `header ${name}`)];
  const id = `The header ${eventIdHeader} is added when the event is delivered.`;
  return { writes: [{ destination: { topic }, columns, rows: [row] }], statements: [], notes: [id] };
}

/** A list, because a service and a path may hold any character: joined texts of two tenants could be the same. */
function entityKey({ headers }: Event, { id, type, api }: Entity): string {
  const tenant = [headers[eventHeaders.service] ?? "", headers[eventHeaders.servicePath] ?? ""];
  // In NGSI v2 two entities may have one id and differ in their type; in NGSI-LD the types of an entity may change.
  return JSON.stringify([...tenant, id, ...(api === "v2" ? [type] : [])]);
}

const copied = [
  eventHeaders.service,
  eventHeaders.servicePath,
  eventHeaders.correlator,
  eventHeaders.subscriptionId,
  eventHeaders.notifiedAt,
  eventHeaders.link,
  traceHeaders.parent,
  traceHeaders.state,
] as const;

function headersOf(event: Event, { type, attributes }: Entity, id: string | undefined): [string, string][] {
  const names = JSON.stringify(attributes.map(({ name }) => name));
  const headers = copied.flatMap((name): [string, string][] => {
    const text = event.headers[name];
    return text === undefined ? [] : [[name, text]];
  });
  return [
    ["content-type", "application/json"],
    ...headers,
    ["entity-type", type],
    ["attributes", names],
    ...(id === undefined ? [] : [[eventIdHeader, id] satisfies [string, string]]),
  ];
}
