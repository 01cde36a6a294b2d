/** What a template may ask for: what of an event, and in the text of a batch the bodies of its events. */
export interface Field {
  readonly what: "entity" | "entity.values" | "entity.id" | "entity.type" | "attribute" | "header" | "events";
  /** Of the attribute or header, else empty. */
  readonly name: string;
}

export type Template = readonly (string | Field)[];

/** Where a template stands: a body holds JSON, a URL and a header single values, a batch only its events. */
export type FieldPlace = "body" | "batch" | "url" | "header";

/** Reads a text in which `{{...}}` stands for what is filled in; one that is not known stays as it is. */
export function parseTemplate(text: string): Template {
  return text.split(EXPRESSION).map((part, index) => (index % 2 === 0 ? part : (fieldOf(part) ?? `{{${part}}}`)));
}

/** The text with its fields filled in. */
export function filled(template: Template, write: (field: Field) => string): string {
  return template.map((part) => (typeof part === "string" ? part : write(part))).join("");
}

/** Why a text is no template for this place; undefined when it is one. */
export function templateFault(text: string, place: FieldPlace): string | undefined {
  const expressions = text.split(EXPRESSION).filter((_, index) => index % 2 === 1);
  const wrong = expressions.find((expression) => !places[place].some((what) => what === fieldOf(expression)?.what));
  if (wrong !== undefined) return `"{{${wrong}}}" is not known here; known: ${places[place].map(shown).join(", ")}`;
  if (place === "batch" && expressions.length === 0) return "must hold {{events}}";
  return undefined;
}

const EXPRESSION = /\{\{([^{}]*)\}\}/;

const single = ["entity.id", "entity.type", "attribute", "header"] as const;

const places: Readonly<Record<FieldPlace, readonly Field["what"][]>> = {
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
