import { isEntity, TextPattern, type Value } from "deneb/ngsi";
import type { Event, Interceptor } from "deneb/sdk";
import type { RegexExtractorConfig, RegexFilterConfig } from "./config.js";
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
    ...attributes.map(({ name, value }) => [name, valueText(value)]),
  ];
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

function valueText({ kind, text }: Value): string {
  return kind === "string" ? JSON.stringify(text) : text;
}
