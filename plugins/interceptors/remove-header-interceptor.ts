import { TextPattern } from "deneb/ngsi";
import type { Event, Interceptor } from "deneb/sdk";
import type { RemoveHeaderConfig } from "./config.js";

/** Removes headers by name, from a list, or by an expression. */
export class RemoveHeaderInterceptor implements Interceptor {
  readonly #names: ReadonlySet<string>;
  readonly #matching: TextPattern | undefined;

  constructor({ withName, fromList, fromListSeparator, matching }: RemoveHeaderConfig) {
    const listed = new TextPattern(fromListSeparator).split(fromList.trim());
    this.#names = new Set([withName, ...listed].map((name) => name.trim().toLowerCase()));
    this.#matching = matching === "" ? undefined : new TextPattern(matching);
  }

  intercept(event: Event): Event {
    const entries = Object.entries(event.headers);
    const kept = entries.filter(([name]) => !this.#names.has(name) && this.#matching?.isAll(name) !== true);
    return kept.length === entries.length ? event : { ...event, headers: Object.fromEntries(kept) };
  }
}
