import { AgentError } from "../../sdk/index.js";
import { isArray, isObject, type Json, type JsonObject, parseJson } from "../values/json.js";

/** A name mappings file: JSON, in which lines that start with `#` are comments. */
export interface NameMappingsFile {
  /** The comment lines and empty lines before the JSON. */
  readonly head: readonly string[];
  readonly mappings: readonly MappingNode[];
}

/**
 * Reads a file; one that holds only comments has no mappings. Throws codes `MALFORMED_JSON` and `NOT_NAME_MAPPINGS`.
 * @stable
 */
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
  const message = `reading name mappings: there is no list "${names.toReversed().join('" or "')}"`;
  throw new AgentError("NOT_NAME_MAPPINGS", message, { retryable: false });
}

function isComment(line: string): boolean {
  return line.startsWith("#") || line.trim() === "";
}

function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** One mapping with those nested in it, as a document holds it; absent texts are not in the map. */
export interface MappingNode {
  readonly texts: ReadonlyMap<string, string>;
  /** Undefined where the document has no list. */
  readonly children: readonly MappingNode[] | undefined;
}

/** The four levels of a name mappings document, outermost first. */
export const mappingLevels = [
  { list: "serviceMappings", originals: ["originalService"], news: ["newService"] },
  { list: "servicePathMappings", originals: ["originalServicePath"], news: ["newServicePath"] },
  {
    list: "entityMappings",
    originals: ["originalEntityId", "originalEntityType"],
    news: ["newEntityId", "newEntityType"],
  },
  {
    list: "attributeMappings",
    originals: ["originalAttributeName", "originalAttributeType"],
    news: ["newAttributeName", "newAttributeType"],
  },
] as const;

/** Names of the outermost list: the second is that of older documents. */
const names = [mappingLevels[0].list, "serviceMapping"] as const;

/** Stands for an absent original name: it matches everything. */
export const MATCH_ALL = "^(.*)";

/**
 * The mappings in a list. A member that is null counts as absent; an unknown member is kept if it is a text.
 * Throws code `NOT_NAME_MAPPINGS`.
 */
function readMappings(json: Json | undefined, place: string, depth = 0): readonly MappingNode[] {
  if (!isArray(json)) throw wrong(place, "a list of mappings");
  return json.map((element, index) => readNode(element, `${place}[${index}]`, depth));
}

function readNode(json: Json, place: string, depth: number): MappingNode {
  if (!isObject(json)) throw wrong(place, "a mapping");
  const below = mappingLevels[depth + 1]?.list;
  const texts = Object.entries(json).flatMap(([name, value]) =>
    name === below ? [] : textAt(value, { place: `${place}.${name}`, known: isKnown(name, depth), name }),
  );
  const list = below === undefined ? undefined : json[below];
  const children = list === undefined || list === null ? undefined : readMappings(list, `${place}.${below}`, depth + 1);
  return { texts: new Map(texts), children };
}

interface Member {
  readonly name: string;
  readonly place: string;
  readonly known: boolean;
}

function textAt(value: Json, { name, place, known }: Member): readonly (readonly [string, string])[] {
  if (typeof value === "string") return [[name, value]];
  if (known && value !== null) throw wrong(place, "a text");
  return [];
}

function isKnown(name: string, depth: number): boolean {
  const level = mappingLevels[depth];
  return level !== undefined && [...level.originals, ...level.news].some((known) => known === name);
}

function wrong(place: string, wanted: string): AgentError {
  return new AgentError("NOT_NAME_MAPPINGS", `reading name mappings: "${place}" must be ${wanted}`, {
    retryable: false,
  });
}

/** The mappings as JSON; absent members stay absent. */
export function mappingsJson(nodes: readonly MappingNode[], depth = 0): readonly JsonObject[] {
  const below = mappingLevels[depth + 1]?.list;
  return nodes.map(({ texts, children }) => ({
    ...Object.fromEntries(texts),
    ...(below === undefined || children === undefined ? {} : { [below]: mappingsJson(children, depth + 1) }),
  }));
}
