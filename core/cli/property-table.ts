import type { FormatName, Property, Schema } from "../sdk/index.js";

/** A markdown table of the properties of a schema, in their order. */
export function propertyTable(schema: Schema): string {
  const rows = Object.entries(schema).map(([name, property]) => tableRow(cells(name, property)));
  return [
    tableRow(["Property", "Format", "Default", "Environment", "Meaning"]),
    tableRow(Array(5).fill("---")),
    ...rows,
  ].join("\n");
}

/** One row of a markdown table; the cells may contain any text. */
export function tableRow(texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")).join(" | ")} |`;
}

function cells(name: string, property: Property): readonly string[] {
  return [`\`${name}\``, formatText(property), defaultText(property), environmentText(property), meaning(property)];
}

const FORMATS: Readonly<Record<FormatName, string>> = {
  text: "text",
  flag: "`true` or `false`",
  count: "whole number",
  integer: "whole number, may be negative",
  port: "port",
  millis: "milliseconds",
  seconds: "seconds",
  words: "list, separated by blanks or commas",
  "millis-list": "list of milliseconds, separated by blanks or commas",
  map: "one key for each entry",
};

function formatText({ format, min, max, maxLength }: Property): string {
  const name = typeof format === "string" ? FORMATS[format] : format.map((choice) => `\`${choice}\``).join(", ");
  const limits = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ];
  return [name, ...limits].join(", ");
}

function defaultText({ default: value }: Property): string {
  if (value === undefined) return "**required**";
  const text = Array.isArray(value) ? value.join(" ") : typeof value === "object" ? mapText(value) : String(value);
  return text === "" ? "(empty)" : `\`${text}\``;
}

function mapText(entries: object): string {
  return Object.entries(entries)
    .map(([key, value]) => `${key} = ${value}`)
    .join(", ");
}

function environmentText({ env, envFile }: Property): string {
  const names = [
    ...(env === undefined ? [] : [`\`${env}\``]),
    ...(envFile === undefined ? [] : [`\`${envFile}\` (names a file that holds the value)`]),
  ];
  return names.join(", ");
}

function meaning({ doc, sensitive, deprecated }: Property): string {
  const remarks = [
    ...(sensitive === undefined ? [] : ["A secret: masked wherever the configuration is shown."]),
    ...(deprecated === undefined ? [] : [`Deprecated: ${deprecated}`]),
  ];
  return [doc, ...remarks].join(" ");
}
