import { entityOf } from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";
import { topicNameFault } from "../client/topic-name.js";

/** A part of an event that stands in the name of a topic. */
type TopicField = { readonly what: "type" } | { readonly what: "header"; readonly name: string };

export type TopicTemplate = readonly (string | TopicField)[];

const EXPRESSION = /\{\{([^{}]*)\}\}/;

/** Reads a name in which `{{...}}` stands for a part of the event; an unknown one stays unchanged. */
export function parseTopic(text: string): TopicTemplate {
  return text.split(EXPRESSION).map((part, index) => (index % 2 === 0 ? part : (fieldOf(part) ?? `{{${part}}}`)));
}

/** Why a text is no template of a topic; undefined when it is one. */
export function topicFault(text: string): string | undefined {
  const wrong = text.split(EXPRESSION).find((part, index) => index % 2 === 1 && fieldOf(part) === undefined);
  return wrong === undefined ? undefined : `"{{${wrong}}}" is not known here; known: {{entity.type}}, {{header.NAME}}`;
}

/** Whether the name depends on the event. */
export function isVaried(template: TopicTemplate): boolean {
  return template.some((part) => typeof part !== "string");
}

/** The topic of an event. Throws `TOPIC_NAME_INVALID` where what the event has cannot be in the name of a topic. */
export function topicOf(template: TopicTemplate, event: Event): string {
  const name = template.map((part) => (typeof part === "string" ? part : textOf(part, event))).join("");
  const fault = topicNameFault(name);
  if (fault === undefined) return name;
  const message = `writing an event to topic ${JSON.stringify(name)}: the name of a topic ${fault}`;
  throw new AgentError("TOPIC_NAME_INVALID", message, { retryable: false });
}

function fieldOf(expression: string): TopicField | undefined {
  const text = expression.trim();
  if (text === "entity.type") return { what: "type" };
  const [, name] = /^header\.(.+)$/.exec(text) ?? [];
  return name === undefined ? undefined : { what: "header", name: name.toLowerCase() };
}

function textOf(field: TopicField, event: Event): string {
  return field.what === "type" ? entityOf(event).type : (event.headers[field.name] ?? "");
}
