import type { AnyPlugin, Kind, Slots, Spelling } from "../sdk/index.js";
import { propertyTable, tableRow } from "./property-table.js";

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
