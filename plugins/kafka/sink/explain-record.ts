import type { Event, Explanation } from "deneb/sdk";
import type { KafkaSinkConfig } from "./config.js";
import { entityRecord, eventIdHeader } from "./entity-record.js";
import { parseTopic } from "./topic-template.js";

/** The record that the sink would write for an event; its id is given when it is delivered. */
export function explainRecord(config: KafkaSinkConfig, event: Event): Explanation {
  const { topic, key, value, headers } = entityRecord(event, { topic: parseTopic(config.topic), config });
  const row = [key, value, ...headers.values()];
  const columns = ["key", "value", ...[...headers.keys()].map((name) => `header ${name}`)];
  const id = `The header ${eventIdHeader} is added when the event is delivered.`;
  return { writes: [{ destination: { topic }, columns, rows: [row] }], statements: [], notes: [id] };
}
