import { TextPattern } from "deneb/ngsi";
import type { Event, Interceptor } from "deneb/sdk";
import { bodyText } from "./body-text.js";
import type { RegexExtractorConfig } from "./config.js";

/** Writes the groups of an expression that is found in the entity into headers. */
export class RegexExtractorInterceptor implements Interceptor {
  readonly #pattern: TextPattern;
  /** The header of each group, from the first one on. */
  readonly #headers: readonly string[];

  constructor({ regex, serializers, "serializers.*": settings }: RegexExtractorConfig) {
    this.#pattern = new TextPattern(regex);
    this.#headers = serializers.map((name) => (settings[`${name}.name`] ?? name).toLowerCase());
  }

  intercept(event: Event): Event {
    const groups = this.#pattern.groups(bodyText(event.body));
    if (groups === undefined) return event;
    const found = this.#headers.flatMap((header, index) => {
      const text = groups[index + 1];
      return text === undefined ? [] : [[header, text] as const];
    });
    return { ...event, headers: { ...event.headers, ...Object.fromEntries(found) } };
  }
}
