import {
  type Attribute,
  attributeJson,
  type Entity,
  isEntity,
  type Member,
  parseJson,
  TextPattern,
  toValue,
  type Value,
} from "deneb/ngsi";
import { codeOf, type Event, type Interceptor } from "deneb/sdk";
import type { RegexExtractorConfig, RegexFilterConfig, SearchReplaceConfig } from "./config.js";
import { type Serializer, serializerOf } from "./serializers.js";

/** Lets events pass, or drops them, by what is in their entity. */
export function createRegexFilterInterceptor({ regex, excludeEvents }: RegexFilterConfig): Interceptor {
  const pattern = new TextPattern(regex);
  return { intercept: (event) => (pattern.isIn(bodyText(event.body)) === excludeEvents ? undefined : event) };
}

/** Writes the groups of an expression that is found in the entity into headers. */
export class RegexExtractorInterceptor implements Interceptor {
  readonly #pattern: TextPattern;
  /** The header of each group and what it gets, from the first group on. */
  readonly #headers: readonly (readonly [header: string, serialize: Serializer])[];

  constructor({ regex, serializers, "serializers.*": settings }: RegexExtractorConfig) {
    this.#pattern = new TextPattern(regex);
    this.#headers = serializers.map((name) => [
      (settings[`${name}.name`] ?? name).toLowerCase(),
      serializerOf(name, settings),
    ]);
  }

  intercept(event: Event): Event {
    const groups = this.#pattern.groups(bodyText(event.body));
    if (groups === undefined) return event;
    const found = this.#headers.flatMap(([header, serialize], index) => {
      const group = groups[index + 1];
      const text = group === undefined ? undefined : serialize(group);
      return text === undefined ? [] : [[header, text] as const];
    });
    return { ...event, headers: { ...event.headers, ...Object.fromEntries(found) } };
  }
}

/**
 * The text in which expressions are looked for: the entity as compact JSON with the bare value of each attribute, in the
 * order of the notification; of another body its JSON.
 */
export function bodyText(body: unknown): string {
  if (!isEntity(body)) return JSON.stringify(body) ?? "";
  const { id, type, attributes } = body;
  const members = [
    ["id", JSON.stringify(id)],
    ["type", JSON.stringify(type)],
    ...attributes.map((attribute) => [attribute.name, attributeJson(attribute)]),
  ];
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

/** Rewrites the values of attributes and of their members; ids, types and names stay. */
export class SearchReplaceInterceptor implements Interceptor {
  readonly #replaced: (text: string) => string;

  constructor({ searchPattern, replaceString }: SearchReplaceConfig) {
    this.#replaced = new TextPattern(searchPattern).replacer(replaceString);
  }

  intercept(event: Event): Event {
    const { body } = event;
    if (!isEntity(body)) return event;
    // The entity with mapped names is beside the original one.
    const mapped = "mapped" in body && isEntity(body.mapped) ? { mapped: this.#entity(body.mapped) } : {};
    return { ...event, body: { ...this.#entity(body), ...mapped } };
  }

  #entity(entity: Entity): Entity {
    return { ...entity, attributes: entity.attributes.map((attribute) => this.#attribute(attribute)) };
  }

  #attribute(attribute: Attribute): Attribute {
    const members = attribute.members.map((member) => this.#member(member));
    const own = { ...attribute, value: this.#value(attribute.value), members };
    if (attribute.others === undefined) return own;
    return { ...own, others: attribute.others.map((other) => this.#attribute(other)) };
  }

  #member(member: Member): Member {
    const own = { ...member, value: this.#value(member.value) };
    return member.members === undefined ? own : { ...own, members: member.members.map((one) => this.#member(one)) };
  }

  #value(value: Value): Value {
    const text = this.#replaced(value.text);
    if (text === value.text) return value;
    return value.kind === "string" ? { kind: "string", text } : readAgain(text);
  }
}

/** The new text of a value that was not a string is read as JSON, and is a string where it is not JSON. */
function readAgain(text: string): Value {
  try {
    return toValue(parseJson(text));
  } catch (error) {
    if (codeOf(error) !== "MALFORMED_JSON") throw error;
    return { kind: "string", text };
  }
}
