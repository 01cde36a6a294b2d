import { AgentError } from "../sdk/index.js";
import { isArray, isObject, type Json, type JsonObject } from "./json.js";

/** One mapping with those nested in it, as a document holds it; a text that is not there is not in the map. */
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

/** What an original name stands for that is not given: it matches everything. */
export const MATCH_ALL = "^(.*)";

/**
 * The mappings in a list. A member that is null counts as not there; one that nobody knows is kept when it is a text.
 * Throws code `NOT_NAME_MAPPINGS`.
 */
export function readMappings(json: Json | undefined, place: string, depth = 0): readonly MappingNode[] {
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
  return new AgentError("NOT_NAME_MAPPINGS", `reading name mappings: "${place}" must be ${wanted}`);
}

/** The mappings as JSON; what was not there is not there again. */
export function mappingsJson(nodes: readonly MappingNode[], depth = 0): readonly JsonObject[] {
  const below = mappingLevels[depth + 1]?.list;
  return nodes.map(({ texts, children }) => ({
    ...Object.fromEntries(texts),
    ...(below === undefined || children === undefined ? {} : { [below]: mappingsJson(children, depth + 1) }),
  }));
}
