import { TimePattern } from "./time-pattern.js";

/** What the group of an expression becomes in a header; undefined where it is nothing of that kind. */
export type Serializer = (text: string) => string | undefined;

/** The types of serializers, under their names in the file. */
export const serializerTypes = {
  default: "default",
  "org.apache.flume.interceptor.RegexExtractorInterceptorPassThroughSerializer": "default",
  millis: "millis",
  "org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer": "millis",
} as const;

/** The type by its name in the file; undefined for an unknown one. */
export function serializerType(name: string): "default" | "millis" | undefined {
  return new Map<string, "default" | "millis">(Object.entries(serializerTypes)).get(name);
}

/** Makes the serializer of one group, from the settings `<name>.type` and `<name>.pattern`. */
export function serializerOf(name: string, settings: Readonly<Record<string, string>>): Serializer {
  if (serializerType(settings[`${name}.type`] ?? "default") !== "millis") return (text) => text;
  const pattern = new TimePattern(settings[`${name}.pattern`] ?? "");
  return (text) => {
    const millis = pattern.millis(text);
    return millis === undefined ? undefined : String(millis);
  };
}
