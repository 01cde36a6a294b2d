import { type Attribute, type Entity, isEntity, parseJson, TextPattern, toValue, type Value } from "deneb/ngsi";
import { codeOf, type Event, type Interceptor } from "deneb/sdk";
import type { SearchReplaceConfig } from "./config.js";

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
    const members = attribute.members.map((member) => ({ ...member, value: this.#value(member.value) }));
    return { ...attribute, value: this.#value(attribute.value), members };
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
