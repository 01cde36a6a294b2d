import { isRecord } from "../../sdk/event.js";
import type { Kind, Property } from "../../sdk/index.js";
import type { DeclarationRules } from "../../tokens.js";
import { nearest } from "../configuration-fault.js";
import { sinkProperties, sourceProperties } from "./component-properties.js";
import { typedValues } from "./typed-values.js";

/** What the configuration would make of the declaration of a property. */
export const declarationRules: DeclarationRules = {
  reserved: new Map(
    Object.entries({
      source: [...namesOf(sourceProperties), "selector", "quota"],
      sink: namesOf(sinkProperties),
      channel: ["type"],
      interceptor: ["type"],
      selector: ["type"],
      "sink-processor": ["type"],
      handler: [],
    } satisfies Record<Kind, readonly string[]>),
  ),
  defaultFault,
  nearest,
};

function namesOf(properties: object): readonly string[] {
  return Object.keys(properties);
}

/** The formats judge what stands in a file; a default is given as the value itself. */
function defaultFault(property: Property): string | undefined {
  const { default: value, format } = property;
  if (format === "map") return isTextTable(value) ? undefined : "must be an object of texts";
  if (format === "words") return isTextList(value) ? undefined : "must be a list of texts";
  return typedValues({ value: property }, new Map()).reasons.get("value");
}

function isTextTable(value: unknown): boolean {
  return isRecord(value) && isTextList(Object.values(value));
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
