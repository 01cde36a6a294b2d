import { fieldsOf } from "../sdk/fields.js";
import type { FormatName, Property } from "../sdk/index.js";

/** Whether a value is as a component gets it: a list of texts for `words`, a number for `port`. */
export function isOfFormat(value: unknown, format: Property["format"]): boolean {
  if (typeof format === "string") return formats[format].accepts(value);
  if ("listOf" in format) return Array.isArray(value) && value.every((one) => format.listOf.includes(one));
  return "fields" in format ? false : format.some((choice) => choice === value);
}

/** What is wrong with the value of a setup, in words; undefined when nothing is. Fields are judged by themselves. */
export function formatFault(value: unknown, property: Property): string | undefined {
  const { format, sensitive } = property;
  if (fieldsOf(property) !== undefined || isOfFormat(value, format)) return undefined;
  const given = sensitive === true ? `a ${typeof value}` : (JSON.stringify(value) ?? `a ${typeof value}`).slice(0, 100);
  return `${given} is not as the component gets it, which is ${wanted(format)}`;
}

function wanted(format: Property["format"]): string {
  if (typeof format === "string") return `${formats[format].is} (format "${format}")`;
  if ("listOf" in format) return `a list of ${format.listOf.map((choice) => `"${choice}"`).join(", ")}`;
  return "fields" in format ? "an object" : `one of ${format.map((choice) => `"${choice}"`).join(", ")}`;
}

interface ValueFormat {
  readonly is: string;
  accepts(value: unknown): boolean;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const wholeNumber = "a whole number from 0";

const formats: Readonly<Record<FormatName, ValueFormat>> = {
  text: { is: "a text", accepts: (value) => typeof value === "string" },
  flag: { is: "true or false", accepts: (value) => typeof value === "boolean" },
  count: { is: wholeNumber, accepts: isCount },
  integer: { is: "a whole number", accepts: Number.isSafeInteger },
  port: { is: "a number from 0 to 65535", accepts: (value) => isCount(value) && Number(value) < 65_536 },
  millis: { is: wholeNumber, accepts: isCount },
  seconds: { is: wholeNumber, accepts: isCount },
  words: {
    is: "a list of texts",
    accepts: (value) => Array.isArray(value) && value.every((word) => typeof word === "string"),
  },
  "millis-list": {
    is: "a list of whole numbers from 1",
    accepts: (value) => Array.isArray(value) && value.every((one) => isCount(one) && one !== 0),
  },
  map: { is: "an object", accepts: (value) => typeof value === "object" },
};
