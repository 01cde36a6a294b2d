import { type AnyPlugin, API_VERSION, type FormatName, type Kind } from "../sdk/index.js";
import { isRecord } from "../sdk/records.js";

/** Why a value is not a plugin definition; undefined when it is one. */
export function shapeFault(value: unknown): string | undefined {
  if (!isRecord(value)) return "has no plugin definition as its default export";
  const who = typeof value.type === "string" ? `declares the plugin "${value.type}"` : "declares a plugin";
  const wrong = Object.entries<Member>(members).find(([name, { holds }]) => !holds(value[name]));
  if (wrong !== undefined) return `${who} whose "${wrong[0]}" is not ${wrong[1].noun}`;
  const property = propertyFault(value.config);
  return property === undefined ? undefined : `${who} whose property ${property}`;
}

/** Why a plugin is for another version of the agent; undefined when it is for this one. */
export function versionFault(value: unknown): string | undefined {
  if (!isRecord(value) || value.apiVersion === undefined || value.apiVersion === API_VERSION) return undefined;
  const { type, apiVersion } = value;
  const who = typeof type === "string" ? `the plugin "${type}"` : "a plugin";
  return `declares ${who} for version ${JSON.stringify(apiVersion)} of deneb/sdk; this agent has version ${API_VERSION}`;
}

/** Here a loaded value gets the type of a definition. */
export function isPlugin(value: unknown): value is AnyPlugin {
  return shapeFault(value) === undefined;
}

interface Member {
  holds(value: unknown): boolean;
  readonly noun: string;
}

const kinds = {
  source: true,
  handler: true,
  interceptor: true,
  channel: true,
  selector: true,
  sink: true,
  "sink-processor": true,
} satisfies Record<Kind, true>;

const formatNames = {
  text: true,
  flag: true,
  count: true,
  integer: true,
  port: true,
  millis: true,
  seconds: true,
  words: true,
  "millis-list": true,
  map: true,
} satisfies Record<FormatName, true>;

const stabilities: readonly unknown[] = ["stable", "beta", "deprecated"];

const members = {
  kind: { holds: isKind, noun: `one of ${Object.keys(kinds).join(", ")}` },
  type: { holds: isTypeName, noun: "a name in lower case without blanks" },
  aliases: { holds: isOptionalTextList, noun: "a list of texts" },
  spellings: {
    holds: (value) => value === undefined || (Array.isArray(value) && value.every(isSpelling)),
    noun: "a list of spellings, each with its types",
  },
  summary: { holds: isSentence, noun: "a sentence" },
  stability: { holds: (value) => stabilities.includes(value), noun: `one of ${stabilities.join(", ")}` },
  apiVersion: { holds: (value) => value === undefined || value === API_VERSION, noun: `${API_VERSION}` },
  config: { holds: isRecord, noun: "a schema" },
  slots: {
    holds: (value) => value === undefined || (isRecord(value) && Object.values(value).every(isKind)),
    noun: "a table of kinds by slot name",
  },
  check: { holds: isOptionalFunction, noun: "a function" },
  create: { holds: (value) => typeof value === "function", noun: "a function" },
  query: { holds: isOptionalFunction, noun: "a function" },
  explain: { holds: isOptionalFunction, noun: "a function" },
} satisfies Record<keyof AnyPlugin, Member>;

function propertyFault(config: unknown): string | undefined {
  if (!isRecord(config)) return undefined;
  const faults = Object.entries(config).flatMap(([name, property]) => {
    if (!isRecord(property) || !isSentence(property.doc)) return [`"${name}" has no doc sentence`];
    return isFormat(property.format) ? [] : [`"${name}" has an unknown format`];
  });
  return faults[0];
}

function isSpelling(value: unknown): boolean {
  return (
    isRecord(value) &&
    isTextList(value.types) &&
    lists.every((name) => isOptionalTextList(value[name])) &&
    tables.every((name) => isTextTable(value[name]))
  );
}

const lists = ["better", "different"] as const;
const tables = ["means", "implies", "prefixes", "variables", "fileVariables", "without"] as const;

function isTextTable(value: unknown): boolean {
  return value === undefined || (isRecord(value) && Object.values(value).every((text) => typeof text === "string"));
}

function isKind(value: unknown): boolean {
  return typeof value === "string" && Object.hasOwn(kinds, value);
}

function isFormat(value: unknown): boolean {
  return typeof value === "string" ? Object.hasOwn(formatNames, value) : isTextList(value) && value.length > 0;
}

function isTypeName(value: unknown): boolean {
  return typeof value === "string" && /^[^\sA-Z]+$/.test(value);
}

function isSentence(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function isOptionalTextList(value: unknown): boolean {
  return value === undefined || isTextList(value);
}

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || typeof value === "function";
}
