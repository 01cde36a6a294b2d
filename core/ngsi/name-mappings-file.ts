import { AgentError } from "../sdk/index.js";
import { isObject, parseJson } from "./json.js";
import { type MappingNode, mappingLevels, mappingsJson, readMappings } from "./mapping-tree.js";

/** A name mappings file: JSON, in which lines that start with `#` are comments. */
export interface NameMappingsFile {
  /** The comment lines and empty lines before the JSON. */
  readonly head: readonly string[];
  readonly mappings: readonly MappingNode[];
}

/** Reads a file; one that holds only comments has no mappings. Throws codes `MALFORMED_JSON` and `NOT_NAME_MAPPINGS`. */
export function readNameMappingsFile(text: string): NameMappingsFile {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const first = lines.findIndex((line) => !isComment(line));
  if (first === -1) return { head: withoutEmptyEnd(lines), mappings: [] };
  const json = lines.filter((line) => !isComment(line)).join("\n");
  return { head: lines.slice(0, first), mappings: readMappingsDocument(json) };
}

/** The text of a file. Comments among the mappings are gone. */
export function nameMappingsText({ head, mappings }: NameMappingsFile): string {
  const json = JSON.stringify({ [mappingLevels[0].list]: mappingsJson(mappings) }, undefined, 2);
  return [...head, json, ""].join("\n");
}

/** Reads a JSON text with the mappings below `serviceMappings` or `serviceMapping`. Throws as the file does. */
export function readMappingsDocument(text: string): readonly MappingNode[] {
  const root = parseJson(text);
  const name = isObject(root) ? names.find((known) => root[known] !== undefined) : undefined;
  if (name !== undefined && isObject(root)) return readMappings(root[name], name);
  const message = `reading name mappings: there is no list "${mappingLevels[0].list}"`;
  throw new AgentError("NOT_NAME_MAPPINGS", message);
}

const names = [mappingLevels[0].list, "serviceMapping"] as const;

function isComment(line: string): boolean {
  return line.startsWith("#") || line.trim() === "";
}

function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
