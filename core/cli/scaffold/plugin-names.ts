import { isBuiltin } from "node:module";
import type { Kind } from "../../sdk/index.js";

/** What `deneb plugin new` can make. */
export const newKinds = [
  "sink",
  "sql-sink",
  "source",
  "handler",
  "interceptor",
  "channel",
  "selector",
  "sink-processor",
] as const;

export type NewKind = (typeof newKinds)[number];

/** The kind of the component that is declared. */
export function declaredKind(kind: NewKind): Kind {
  return kind === "sql-sink" ? "sink" : kind;
}

/** How a new plugin is called in each place. */
export interface PluginNames {
  readonly kind: NewKind;
  /** In properties files. */
  readonly type: string;
  /** In package.json. */
  readonly packageName: string;
  /** Of the folder that is created. */
  readonly folder: string;
  /** Of the file that does the work, without its extension. */
  readonly file: string;
  /** Of what that file exports, in lower camel case. */
  readonly id: string;
  /** The same as the beginning of names of types. */
  readonly typeId: string;
}

/**
 * The names of a plugin; undefined when the given one cannot be used. A package without a scope is named by convention,
 * whether the prefix is given or not.
 */
export function namesOf(kind: NewKind, given: string): PluginNames | undefined {
  const [, scope = "", name = ""] = NAME.exec(given) ?? [];
  const type = name.replace(/^deneb-plugin-(?=[a-z])/, "");
  const packageName = scope === "" ? `${PREFIX}${type}` : given;
  if (type === "" || packageName.length > LONGEST) return undefined;
  const usable = scope !== "" || !isReserved(type);
  const folder = usable && !DEVICE.test(type) ? type : `${PREFIX}${type}`;
  const file = ownFiles.has(type) || DEVICE.test(type) ? `${type}-${kind}` : type;
  const id = identifier(kind, type);
  const typeId = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  return { kind, type, packageName, folder, file, id, typeId };
}

const PREFIX = "deneb-plugin-";

const NAME = /^(?:@([a-z0-9][a-z0-9._~-]*)\/)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/;

/** The limit of npm. */
const LONGEST = 214;

/** Files that no Windows system can have. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Names that npm refuses, or that Node would not look up in a package. */
function isReserved(name: string): boolean {
  return isBuiltin(name) || isBuiltin(`node:${name}`) || ["deneb", "node_modules"].includes(name);
}

/** Names of files that every scaffold has. */
const ownFiles: ReadonlySet<string> = new Set(["index", "config", "conformance", "agent", "dialect", "store"]);

/** A single word may be a keyword or a global, so it gets the kind; so do names that the scaffolds use. */
function identifier(kind: NewKind, type: string): string {
  const name = camelCase(type);
  const isSafe = (candidate: string) => !usedNames.has(candidate);
  if (type.includes("-") && isSafe(name)) return name;
  const longer = camelCase(`${type}-${kind}`);
  return isSafe(longer) ? longer : `my${longer.charAt(0).toUpperCase()}${longer.slice(1)}`;
}

const usedNames: ReadonlySet<string> = new Set([
  "agentError",
  "batchSink",
  "booleanCell",
  "channelStopped",
  "createHash",
  "definePlugin",
  "entityJson",
  "errorPatterns",
  "eventHeaders",
  "eventQueue",
  "explainSql",
  "isEntity",
  "linesOf",
  "markOf",
  "marksIn",
  "nameOf",
  "oneConnection",
  "pluginConformance",
  "queuePut",
  "queueTake",
  "readFile",
  "rejectedRequest",
  "sampleNotifications",
  "sequenceRing",
  "sqlFaults",
  "sqlSchema",
  "sqlSink",
  "standardDialect",
  "storeOf",
  "tableName",
  "testAgent",
  "textOf",
  "waitingTakes",
  "withNul",
]);

function camelCase(name: string): string {
  return name.replaceAll(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
