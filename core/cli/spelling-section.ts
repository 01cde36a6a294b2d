import type { Spelling } from "../sdk/index.js";
import { tableRow } from "./property-table.js";

/** What the reference says about the spellings of a plugin; nothing when there are none. */
export function spellingSection(spellings: readonly Spelling[]): readonly string[] {
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
