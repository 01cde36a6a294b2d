import { choicesOf } from "../configuration/schema/typed-values.js";
import type { AnyPlugin, FormatName, Kind, Property, Schema, Slots, Spelling } from "../sdk/index.js";

/** The line on top of every generated page. */
export const GENERATED = "<!-- generated, do not edit; npm run docs -->";

/** The name of the page of a plugin. */
export function referenceFile({ kind, type }: AnyPlugin): string {
  return `${kind}-${type}.md`;
}

/** The markdown page of one plugin, generated from its definition alone. */
export function referencePage(plugin: AnyPlugin): string {
  const parts = [
    GENERATED,
    `# ${plugin.kind} \`${plugin.type}\``,
    plugin.summary,
    standing(plugin),
    ...properties(plugin),
    ...slots(plugin.slots ?? {}),
    ...spellingSection(plugin.spellings ?? []),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** The page that lists the others. */
export function referenceIndex(plugins: readonly AnyPlugin[]): string {
  const rows = plugins.map((plugin) =>
    tableRow([plugin.kind, `[${plugin.type}](${referenceFile(plugin)})`, plugin.stability, plugin.summary]),
  );
  const parts = [
    GENERATED,
    "# Reference of the configuration",
    "What the agent itself reads: [kernel](kernel.md). What each plugin reads:",
    [tableRow(["Kind", "Type", "Stability", "What it is"]), tableRow(["---", "---", "---", "---"]), ...rows].join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

const PREFIXES: Readonly<Record<Kind, string>> = {
  source: "<agent>.sources.<source>.",
  handler: "<agent>.sources.<source>.handler.",
  interceptor: "<agent>.sources.<source>.interceptors.<interceptor>.",
  selector: "<agent>.sources.<source>.selector.",
  channel: "<agent>.channels.<channel>.",
  sink: "<agent>.sinks.<sink>.",
  "sink-processor": "<agent>.sinkgroups.<group>.processor.",
};

function standing({ stability, aliases = [] }: AnyPlugin): string {
  const names = aliases.map((alias) => `\`${alias}\``).join(", ");
  return `Stability: ${stability}.${names === "" ? "" : ` Also accepted as its type: ${names}.`}`;
}

function properties({ kind, config }: AnyPlugin): readonly string[] {
  if (Object.keys(config).length === 0) return ["It has no properties of its own."];
  return ["## Properties", `Each is written \`${PREFIXES[kind]}<property> = <value>\`.`, propertyTable(config)];
}

function slots(declared: Slots): readonly string[] {
  const lines = Object.entries(declared).map(
    ([slot, kind]) =>
      `- \`${slot}\`: a ${kind}; \`${slot} = <type>\` names it, \`${slot}.<property> = <value>\` sets it.`,
  );
  return lines.length === 0 ? [] : ["## Nested components", lines.join("\n")];
}

/** What the reference says about the spellings of a plugin; nothing when there are none. */
function spellingSection(spellings: readonly Spelling[]): readonly string[] {
  return spellings.length === 0 ? [] : ["## Existing files", ...spellings.flatMap(paragraphs)];
}

function paragraphs(spelling: Spelling): readonly string[] {
  const { types, prefixes = {}, variables = {}, fileVariables = {} } = spelling;
  const stands = pairs({ ...spelling.means, ...spelling.implies });
  const renames = Object.entries(prefixes).map(([old, now]) => `\`${old}...\` is \`${now}...\``);
  const names = types.map((type) => `\`${type}\``).join(", ");
  const rows = [...Object.entries(variables), ...Object.entries(fileVariables)];
  return [
    [
      `The type ${names} stands for this one`,
      ...(stands === "" ? [] : [`, with ${stands} unless the file says otherwise`]),
      ...(renames.length === 0 ? [] : [`; of its properties ${renames.join(", ")}`]),
      ".",
    ].join(""),
    ...(rows.length === 0 ? [] : [variableTable(rows)]),
  ];
}

function pairs(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([name, text]) => `\`${name} = ${text}\``)
    .join(", ");
}

function variableTable(rows: readonly (readonly [variable: string, property: string])[]): string {
  return [
    tableRow(["Variable there", "Property here"]),
    tableRow(["---", "---"]),
    ...rows.map(([variable, property]) => tableRow([`\`${variable}\``, `\`${property}\``])),
  ].join("\n");
}

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
function tableRow(texts: readonly string[]): string {
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
  const choices = choicesOf(format).map((choice) => `\`${choice}\``);
  const name = typeof format === "string" ? FORMATS[format] : choices.join(", ");
  const limits = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ];
  const list = typeof format === "object" && "listOf" in format ? "list, separated by blanks or commas, of " : "";
  return [`${list}${name}`, ...limits].join(", ");
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
