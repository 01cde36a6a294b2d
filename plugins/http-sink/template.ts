import { attributeJson, entityJson, entityOf, entityValuesJson, isEntity } from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";

/** A field of a template: a part of an event, or in the text of a batch the bodies of its events. */
interface Field {
  readonly what: "entity" | "entity.values" | "entity.id" | "entity.type" | "attribute" | "header" | "events";
  /** Of the attribute or header, else empty. */
  readonly name: string;
}

export type Template = readonly (string | Field)[];

/** What a template is for: a body holds JSON, a URL and a header single values, a batch only its events. */
type TemplateUse = "body" | "batch" | "url" | "header";

/** Reads a text in which `{{...}}` stands for what is filled in; an unknown field stays unchanged. */
export function parseTemplate(text: string): Template {
  return text.split(EXPRESSION).map((part, index) => (index % 2 === 0 ? part : (fieldOf(part) ?? `{{${part}}}`)));
}

/** The text with its fields filled in. */
export function filled(template: Template, write: (field: Field) => string): string {
  return template.map((part) => (typeof part === "string" ? part : write(part))).join("");
}

/** Why a text is not a template for this use; undefined when it is one. */
export function templateFault(text: string, use: TemplateUse): string | undefined {
  const expressions = text.split(EXPRESSION).filter((_, index) => index % 2 === 1);
  const wrong = expressions.find((expression) => !fieldsOf[use].some((what) => what === fieldOf(expression)?.what));
  if (wrong !== undefined) return `"{{${wrong}}}" is not known here; known: ${fieldsOf[use].map(shown).join(", ")}`;
  if (use === "batch" && expressions.length === 0) return "must hold {{events}}";
  return undefined;
}

const EXPRESSION = /\{\{([^{}]*)\}\}/;

const single = ["entity.id", "entity.type", "attribute", "header"] as const;

const fieldsOf: Readonly<Record<TemplateUse, readonly Field["what"][]>> = {
  body: ["entity", "entity.values", ...single],
  batch: ["events"],
  url: single,
  header: single,
};

function shown(what: Field["what"]): string {
  return what === "attribute" || what === "header" ? `{{${what}.NAME}}` : `{{${what}}}`;
}

function fieldOf(expression: string): Field | undefined {
  const text = expression.trim();
  const [, kind, name = ""] = /^(attribute|header)\.(.+)$/.exec(text) ?? [];
  if (kind === "attribute") return { what: kind, name };
  if (kind === "header") return { what: kind, name: name.toLowerCase() };
  const what = plain.find((known) => known === text);
  return what === undefined ? undefined : { what, name: "" };
}

const plain = ["entity", "entity.values", "entity.id", "entity.type", "events"] as const;

/** The body of one event: JSON where the field is one, else the characters of a JSON string without its quotes. */
export function bodyText(template: Template, event: Event): string {
  return filled(template, (field) => {
    if (field.what === "entity") return entityJson(entityOf(event));
    if (field.what === "entity.values") return entityValuesJson(entityOf(event));
    if (field.what === "attribute") return attributeText(event, field.name) ?? "null";
    return JSON.stringify(plainText(event, field)).slice(1, -1);
  });
}

/** The URL of one event; every value is percent-encoded, so it cannot change the rest of the URL. */
export function urlText(template: Template, event: Event): string {
  return filled(template, (field) => {
    const value = plainText(event, field);
    // In a URL these two, encoded or not, are steps up its path.
    if (value !== "." && value !== "..") return encodeURIComponent(value);
    throw new AgentError("NOT_FOR_A_URL", `writing the url of an event: "${value}" would change its path`, {
      retryable: false,
    });
  });
}

/** A header of one event; characters other than printable ASCII are percent-encoded. */
export function headerText(template: Template, event: Event): string {
  return filled(template, (field) => plainText(event, field).replace(/[^\x20-\x7e]/gu, encodeURIComponent));
}

/** Identifies the entity of an event; events of one entity keep their order. */
export function entityKey({ headers, body }: Event): string {
  const id = isEntity(body) ? [body.id, body.type] : [];
  return JSON.stringify([headers["fiware-service"], headers["fiware-servicepath"], ...id]);
}

function plainText(event: Event, { what, name }: Field): string {
  if (what === "header") return event.headers[name] ?? "";
  if (what === "entity.id") return entityOf(event).id;
  if (what === "entity.type") return entityOf(event).type;
  return attributeOf(event, name)?.value.text ?? "";
}

function attributeText(event: Event, name: string): string | undefined {
  const attribute = attributeOf(event, name);
  return attribute === undefined ? undefined : attributeJson(attribute);
}

function attributeOf(event: Event, name: string) {
  return entityOf(event).attributes.find((attribute) => attribute.name === name);
}
