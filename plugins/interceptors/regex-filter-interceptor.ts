import { TextPattern } from "deneb/ngsi";
import type { Interceptor } from "deneb/sdk";
import { bodyText } from "./body-text.js";
import type { RegexFilterConfig } from "./config.js";

/** Lets events pass, or drops them, by what is in their entity. */
export function createRegexFilterInterceptor({ regex, excludeEvents }: RegexFilterConfig): Interceptor {
  const pattern = new TextPattern(regex);
  return { intercept: (event) => (pattern.isIn(bodyText(event.body)) === excludeEvents ? undefined : event) };
}
