import { AgentError, type Event } from "../../sdk/index.js";
import { eventHeaders } from "../headers.js";
import { type Attribute, type Entity, isEntity } from "../model.js";
import { MATCH_ALL, type MappingNode, mappingLevels } from "./document.js";
import { NamePattern, NameTemplate } from "./patterns.js";

/** The names that a notification came with, or that it gets. */
export interface Names {
  readonly service: string;
  readonly servicePath: string;
  readonly entity: Entity;
}

/** Name mappings ready for use. @stable */
export interface NameMappings {
  /** The first mapping that matches counts, at each level; names without one stay, and so does everything below. */
  apply(names: Names): Names;
}

/** Name mappings ready for use, with what is wrong in their document. */
export interface CompiledMappings {
  readonly mappings: NameMappings;
  /** What is wrong and where in the document; such a mapping is left out with those below it. */
  readonly faults: readonly string[];
}

/** Compiles mappings. @stable */
export function compileNameMappings(nodes: readonly MappingNode[]): CompiledMappings {
  const faults: string[] = [];
  const services = rulesOf(nodes, { place: mappingLevels[0].list, depth: 0, faults });
  return { mappings: { apply: (names) => applied(services, names) }, faults };
}

/** A compiled mapping: one pattern for each original name of its level, in order. */
interface Rule {
  readonly patterns: readonly NamePattern[];
  /** One for each new name of its level; undefined keeps the name. */
  readonly news: readonly ((groups: readonly string[]) => string | undefined)[];
  readonly below: readonly Rule[];
}

interface Spot {
  readonly place: string;
  readonly depth: number;
  readonly faults: string[];
}

function rulesOf(nodes: readonly MappingNode[], { place, depth, faults }: Spot): readonly Rule[] {
  return nodes.flatMap((node, index) => {
    const spot = { place: `${place}[${index}]`, depth, faults };
    try {
      return [ruleOf(node, spot)];
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      faults.push(`${spot.place}: ${error.message}`);
      return [];
    }
  });
}

/** Levels whose first new name may hold parts of the old one; all other new names are taken as they are. */
const DEEPEST_TEMPLATE = 2;

function ruleOf({ texts, children = [] }: MappingNode, { place, depth, faults }: Spot): Rule {
  const level = mappingLevels[depth];
  const patterns = (level?.originals ?? []).map((name) => new NamePattern(texts.get(name) ?? MATCH_ALL));
  const news = (level?.news ?? []).map((name, index) => {
    const text = texts.get(name);
    const pattern = patterns[index];
    // The expression itself is the name of nothing: whoever repeats it wants no other name.
    if (text === undefined || text === pattern?.text) return () => undefined;
    if (pattern === undefined || index > 0 || depth > DEEPEST_TEMPLATE) return () => text;
    const template = new NameTemplate(text, pattern);
    return (groups: readonly string[]) => template.expand(groups);
  });
  const list = `${place}.${mappingLevels[depth + 1]?.list}`;
  return { patterns, news, below: rulesOf(children, { place: list, depth: depth + 1, faults }) };
}

function applied(services: readonly Rule[], names: Names): Names {
  const service = services.find((rule) => matches(rule, [names.service]));
  if (service === undefined) return names;
  const inService = { ...names, service: renamed(service, 0, names.service) };

  const path = service.below.find((rule) => matches(rule, [names.servicePath]) && knowsType(rule, names.entity));
  if (path === undefined) return inService;
  const inPath = { ...inService, servicePath: renamed(path, 0, names.servicePath) };

  const { id, type, api, attributes } = names.entity;
  const entity = path.below.find((rule) => matches(rule, [id, type]));
  if (entity === undefined) return inPath;
  const mapped = attributes.map((attribute) => mappedAttribute(entity.below, attribute));
  const newNames = { id: renamed(entity, 0, id), type: renamed(entity, 1, type) };
  return { ...inPath, entity: { ...newNames, ...(api === undefined ? {} : { api }), attributes: mapped } };
}

/** A service path counts only when one of its entity mappings is for entities of this type. */
function knowsType({ below }: Rule, { type }: Entity): boolean {
  return below.some(({ patterns }) => patterns[1]?.matches(type) === true);
}

/** An attribute without a type, of the simplified form, has the type "" here. */
function mappedAttribute(rules: readonly Rule[], attribute: Attribute): Attribute {
  const { name, type = "" } = attribute;
  const rule = rules.find((candidate) => matches(candidate, [name, type]));
  if (rule === undefined) return attribute;
  const newType = renamed(rule, 1, type);
  return { ...attribute, name: renamed(rule, 0, name), ...(newType === "" ? {} : { type: newType }) };
}

function matches({ patterns }: Rule, names: readonly string[]): boolean {
  return patterns.every((pattern, index) => pattern.matches(names[index] ?? ""));
}

function renamed({ patterns, news }: Rule, index: number, name: string): string {
  return news[index]?.(patterns[index]?.groups(name) ?? [name]) ?? name;
}

/**
 * The event with its mapped names beside the original ones: service and service path in headers of their own, and the
 * mapped entity as the member `mapped` of the body when it differs. An event without an entity is returned unchanged.
 * @stable
 */
export function withMappedNames(event: Event, mappings: NameMappings): Event {
  const { headers, body } = event;
  if (!isEntity(body)) return event;
  const names = {
    service: headers[eventHeaders.service] ?? "",
    servicePath: headers[eventHeaders.servicePath] ?? "",
    entity: body,
  };
  const applied = mappings.apply(names);
  // Mapped by an interceptor before, and by none of these.
  if (applied === names && headers[eventHeaders.mappedService] !== undefined) return event;
  const { service, servicePath, entity } = applied;
  return {
    headers: { ...headers, [eventHeaders.mappedService]: service, [eventHeaders.mappedServicePath]: servicePath },
    body: entity === body ? unmapped(body) : { ...body, mapped: entity },
  };
}

/** Without the names of an interceptor before: those of two would be mixed. */
function unmapped(body: Entity): Entity {
  if (!("mapped" in body)) return body;
  const { mapped: _before, ...entity } = body;
  return entity;
}

/** The event with its mapped names; the same event when none were applied. @stable */
export function mappedEvent(event: Event): Event {
  const { headers, body } = event;
  const service = headers[eventHeaders.mappedService];
  const servicePath = headers[eventHeaders.mappedServicePath];
  if (service === undefined || servicePath === undefined) return event;
  return {
    headers: { ...headers, [eventHeaders.service]: service, [eventHeaders.servicePath]: servicePath },
    body: mappedBody(body),
  };
}

function mappedBody(body: unknown): unknown {
  return typeof body === "object" && body !== null && "mapped" in body ? body.mapped : body;
}
