import { TextPattern } from "deneb/ngsi";
import type { Event, Interceptor } from "deneb/sdk";
import { bodyText } from "./body-text.js";
import type { RegexExtractorConfig } from "./config.js";
import { type Serializer, serializerOf } from "./serializers.js";

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
