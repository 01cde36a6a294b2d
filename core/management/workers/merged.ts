import type { Json, JsonObject } from "../../agent/live/merge-patch.js";

type Rule = (values: readonly Json[]) => Json | undefined;

/**
 * The documents of several workers as that of one agent: members of one name are put together, lists of named things by those
 * names. Counts are summed, the worst state counts, and the earliest time; members with a meaning of their own have a rule.
 */
export function merged(documents: readonly JsonObject[]): JsonObject {
  const names = new Set(documents.flatMap((document) => Object.keys(document)));
  const members = [...names].map((name) => {
    const values = documents.map((document) => document[name]).filter((value) => value !== undefined);
    const isKnown = values.length === documents.length || !whole.has(name);
    return [name, isKnown && values.length > 0 ? mergedMember(name, values) : undefined] as const;
  });
  return Object.fromEntries(members);
}

/** Counts that nobody knows while one worker cannot tell its own. */
const whole: ReadonlySet<string> = new Set(["num_events", "events", "waiting", "unaccounted"]);

const first: Rule = ([value]) => value;
const any: Rule = (values) => values.includes(true);
const largest: Rule = (values) => Math.max(...values.map(Number));
const least: Rule = (values) => Math.min(...values.map(Number));
/** As many services as each worker shows, with most of them first. */
const mostOf =
  (count: string): Rule =>
  (values) => {
    const lists = values.filter(isList);
    const services = mergedList(lists.flat()).filter(isObject);
    const most = services.toSorted((one, other) => Number(other[count]) - Number(one[count]));
    return most.slice(0, Math.max(...lists.map(({ length }) => length), MOST_SERVICES));
  };
const latest: Rule = (values) => values.map(String).toSorted().at(-1);

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["interval_seconds", first],
  ["revision", first],
  // What agents share is the same for each of them.
  ["log", first],
  ["oldest_event_seconds", largest],
  ["seconds_until_full", least],
  ["time", latest],
  ["until", latest],
  ["on", any],
  ["over_quota", mostOf("num_refused_events")],
  ["largest_services", mostOf("num_events")],
]);

const MOST_SERVICES = 10;

/** From best to worst. */
const order = ["up", "START", "STOP", "degraded", "ERROR", "down"];

function mergedMember(name: string, values: readonly Json[]): Json | undefined {
  const rule = rules.get(name);
  if (rule !== undefined) return rule(values);
  const [value] = values;
  if (typeof value === "number") return values.reduce<number>((sum, one) => sum + Number(one), 0);
  if (typeof value === "boolean") return values.every((one) => one === true);
  if (typeof value === "string") return mergedText(values.map(String));
  if (isList(value)) return mergedList(values.filter(isList).flat());
  return isObject(value) ? merged(values.filter(isObject)) : value;
}

/** The worst of known states; the earliest of times; else the first. */
function mergedText(texts: readonly string[]): string {
  const [text = ""] = texts;
  if (order.includes(text)) return texts.toSorted((one, other) => order.indexOf(other) - order.indexOf(one))[0] ?? text;
  return /^\d{4}-\d\d-\d\dT/.test(text) ? (texts.toSorted()[0] ?? text) : text;
}

/** The members that name a thing in a list. */
const keys = ["kind", "name", "sink", "service", "table", "channel"];

function mergedList(all: readonly Json[]): readonly Json[] {
  const named = new Map<string, JsonObject[]>();
  const others: Json[] = [];
  for (const one of all) {
    const key = isObject(one) ? keyOf(one) : undefined;
    if (key === undefined || !isObject(one)) others.push(one);
    else named.set(key, [...(named.get(key) ?? []), one]);
  }
  return [...[...named.values()].map(merged), ...others];
}

function keyOf(one: JsonObject): string | undefined {
  const parts = keys.flatMap((key) => (typeof one[key] === "string" ? [`${key}=${one[key]}`] : []));
  return parts.length === 0 ? undefined : parts.join("\n");
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isList(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
