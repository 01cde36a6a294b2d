import { apiRange } from "../sdk/api-versions.js";
import { isRecord } from "../sdk/event.js";
import type { AnyPlugin, FormatName, Kind } from "../sdk/index.js";
import { isPermissions } from "./permission-faults.js";

/** What a member of a definition must be. */
export interface Member {
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

export const formatNames = {
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

/** The members of a definition. */
export const members = {
  kind: { holds: isKind, noun: `one of ${Object.keys(kinds).join(", ")}` },
  type: { holds: isTypeName, noun: "a name in lower case without blanks" },
  aliases: { holds: isOptionalTextList, noun: "a list of texts" },
  spellings: {
    holds: (value) => value === undefined || (Array.isArray(value) && value.every(isSpelling)),
    noun: "a list of spellings, each with its types",
  },
  summary: { holds: isSentence, noun: "a sentence" },
  stability: { holds: (value) => stabilities.includes(value), noun: `one of ${stabilities.join(", ")}` },
  apiVersion: {
    holds: (value) => apiRange(value) !== undefined,
    noun: "a version such as 1, or the oldest and the newest one such as [1, 2]",
  },
  permissions: {
    holds: isPermissions,
    noun: `an object such as { hosts: ["{url}"], folders: [], childProcesses: false }, its folders absolute paths`,
  },
  refusals: {
    holds: (value) => value === undefined || (Array.isArray(value) && value.every(isRefusal)),
    noun: `a list of refusals such as { status: 401, cause: "token" }`,
  },
  refusedHeaders: { holds: isOptionalFunction, noun: "a function" },
  takers: { holds: isOptional("one"), noun: '"one", or absent' },
  feeders: { holds: isOptional("others"), noun: '"others", or absent' },
  workers: { holds: isOptionalFunction, noun: "a function" },
  config: { holds: isRecord, noun: "a schema" },
  slots: {
    holds: (value) => value === undefined || (isRecord(value) && Object.values(value).every(isKind)),
    noun: "a table of kinds by slot name",
  },
  check: { holds: isOptionalFunction, noun: "a function" },
  certificates: { holds: isOptionalFunction, noun: "a function" },
  create: { holds: (value) => typeof value === "function", noun: "a function" },
  query: { holds: isOptionalFunction, noun: "a function" },
  explain: { holds: isOptionalFunction, noun: "a function" },
  data: { holds: isOptionalFunction, noun: "a function" },
} satisfies Record<keyof AnyPlugin, Member>;

function isRefusal(value: unknown): boolean {
  return isRecord(value) && Number.isInteger(value.status) && typeof value.cause === "string";
}

function isSpelling(value: unknown): boolean {
  return (
    isRecord(value) &&
    isTextList(value.types) &&
    lists.every((name) => isOptionalTextList(value[name])) &&
    tables.every((name) => isTextTable(value[name])) &&
    isFunctionTable(value.rereads)
  );
}

const lists = ["better", "different"] as const;
const tables = ["means", "implies", "prefixes", "variables", "fileVariables", "without"] as const;

function isTextTable(value: unknown): boolean {
  return value === undefined || (isRecord(value) && Object.values(value).every((text) => typeof text === "string"));
}

function isFunctionTable(value: unknown): boolean {
  return value === undefined || (isRecord(value) && Object.values(value).every((one) => typeof one === "function"));
}

function isKind(value: unknown): boolean {
  return typeof value === "string" && Object.hasOwn(kinds, value);
}

export function isFormat(value: unknown): boolean {
  if (typeof value === "string") return Object.hasOwn(formatNames, value);
  if (isRecord(value) && isRecord(value.fields)) return true;
  const choices = isRecord(value) ? value.listOf : value;
  return isTextList(choices) && choices.length > 0;
}

function isTypeName(value: unknown): boolean {
  return typeof value === "string" && /^[^\sA-Z]+$/.test(value);
}

function isSentence(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

function isOptional(word: string): (value: unknown) => boolean {
  return (value) => value === undefined || value === word;
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
