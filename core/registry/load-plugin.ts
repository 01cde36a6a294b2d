import { access, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../sdk/causes.js";
import { isRecord } from "../sdk/event.js";
import { type AnyPlugin, API_VERSION, codeOf, reasonOf } from "../sdk/index.js";
import { noteOfOthers } from "../sdk/plugins-of-others.js";
import type { CataloguedPlugin, DeclarationRules, LeftOutPlugin } from "../tokens.js";
import { bundledPlugins } from "./bundled-plugins.js";
import { type DeclarationFault, declarationFaults, shown } from "./declaration-faults.js";
import { formatNames, isFormat, type Member, members } from "./definition-members.js";
import { fieldFaults } from "./field-faults.js";
import { permissionFaults } from "./permission-faults.js";
import { versionFault } from "./served-versions.js";

/** A module that is expected to export plugins. */
export interface PluginModule {
  /** Its name in messages: the path of its file, or the name of the package. */
  readonly origin: string;
  /** What `import` takes. */
  readonly specifier: string;
  /** The folder of its package, or of its file. */
  readonly folder: string;
}

export interface Found {
  readonly plugins: readonly CataloguedPlugin[];
  readonly problems: readonly PluginProblem[];
}

/** Limits and rules of loading. */
export interface Loading {
  readonly limitMillis: number;
  /** Absent: what they judge is not looked at. */
  readonly rules?: DeclarationRules | undefined;
  /** Absent: the version of the contract that this agent has. Tests ask what a later one would say. */
  readonly apiVersion?: number | undefined;
}

/** Imports a module, one of others within the limit; anything wrong with it is returned as a problem, never thrown. */
export async function loadPlugin(module: PluginModule, loading: Loading): Promise<Found> {
  const { origin, specifier } = module;
  // What a plugin of others adds here every "for in" of the program would see: it gets an error in its place.
  if (!isOwn(module)) Object.preventExtensions(Object.prototype);
  // The program waits for nothing in its own modules; on a busy machine they may take long.
  const exported = await (isOwn(module) ? exportOf(specifier) : withinLimit(exportOf(specifier), loading.limitMillis));
  if ("problem" in exported) return { plugins: [], problems: [{ origin, ...exported.problem }] };
  if ("error" in exported)
    return { plugins: [], problems: [{ origin, ...(await notLoaded(exported.error, specifier)) }] };
  const definitions = definitionsIn(exported.value);
  const place = isOwn(module) ? { origin } : { origin, folder: await realpath(module.folder) };
  const found = definitions.map((definition) => ({
    definition,
    problems: exported.bundled === true ? [] : judged(origin, definition, loading),
  }));
  const plugins = found.flatMap(({ definition, problems }) =>
    problems.every(({ harmless }) => harmless === true) && isPlugin(definition) ? [{ definition, ...place }] : [],
  );
  if (!isOwn(module)) for (const { definition } of plugins) noteOfOthers(definition);
  return {
    plugins,
    problems: found.flatMap(({ problems }) => problems),
  };
}

/** An empty list counts as no definition: nothing would say why its plugins are missing. */
function definitionsIn(exported: unknown): readonly unknown[] {
  return Array.isArray(exported) && exported.length > 0 ? exported : [exported];
}

const OWN = new URL("../../plugins/", import.meta.url).href;

/** Whether it comes with the program. */
export function isOwn({ specifier }: PluginModule): boolean {
  return specifier.startsWith(OWN);
}

type ProblemText = Omit<PluginProblem, "origin">;

/** What comes from the bundle was judged before: it is compiled code whose declarations the tests load. */
type Exported =
  | { readonly value: unknown; readonly bundled?: boolean }
  | { readonly error: unknown }
  | { readonly problem: ProblemText };

async function exportOf(specifier: string): Promise<Exported> {
  try {
    const bundled = specifier.startsWith(OWN) ? bundledPlugins[specifier.slice(OWN.length)] : undefined;
    const loaded: { readonly default?: unknown } = await (bundled?.() ?? import(specifier));
    return { value: loaded.default, bundled: bundled !== undefined };
  } catch (error) {
    return { error };
  }
}

/** With the file that Node goes by: a folder without a package belongs to the one above it, which is of CommonJS as `npm init` makes it. */
async function asEsModule(specifier: string): Promise<string> {
  const manifest = specifier.startsWith("file:") ? await manifestOf(fileURLToPath(specifier)) : undefined;
  return `a plugin must be an ES module: write "type": "module" into ${manifest ?? "its package.json"}, and import instead of require`;
}

async function manifestOf(file: string): Promise<string | undefined> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (await exists(manifest)) return manifest;
    if (folder === dirname(folder)) return undefined;
  }
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

/** Not within the limit: finding the place of a syntax error takes processes of its own. */
async function notLoaded(error: unknown, specifier: string): Promise<ProblemText> {
  if (await isAbsent(error, specifier)) return NOT_BUILT;
  const remedy = isOfCommonJs(error) ? await asEsModule(specifier) : remedyFor(error);
  const { reasonNotLoaded } = await import("./load-errors.js");
  return { cause: `could not be loaded: ${await reasonNotLoaded(error, specifier)}`, remedy };
}

const ENTRIES =
  "import from deneb/sdk, deneb/sdk/channel, deneb/sdk/testing, deneb/ngsi, deneb/sql or deneb/log, which the agent lends; install no package for it";

function remedyFor(error: unknown): string {
  if (isOfNoEntry(error)) return ENTRIES;
  if (codeOf(error) === "ERR_UNKNOWN_FILE_EXTENSION")
    return "this Node runs JavaScript only: build the package, and name the built file in its package.json";
  return "correct the file, install what it imports, or remove its folder";
}

const NOT_BUILT = {
  cause: "is what its package names as its code, and is not there",
  remedy: "build the package (npm run build), or remove its folder",
} as const;

/** Whether it is the file of the plugin itself that is missing, and not one that it imports. */
async function isAbsent(error: unknown, specifier: string): Promise<boolean> {
  if (codeOf(error) !== "ERR_MODULE_NOT_FOUND" || !specifier.startsWith("file:")) return false;
  return !(await exists(fileURLToPath(specifier)));
}

/** A module that Node takes for CommonJS. The agent lends `deneb/...` to imports; to install what has that name is no remedy. */
function isOfCommonJs(error: unknown): boolean {
  const message = messageOf(error);
  if (error instanceof SyntaxError) return /outside a module|^Unexpected token 'export'/.test(message);
  return codeOf(error) === "MODULE_NOT_FOUND" && /^Cannot find module 'deneb\//.test(message);
}

/** An import of `deneb` itself, or of what is no entry of it: the hook asks for these in its own name. */
function isOfNoEntry(error: unknown): boolean {
  const message = messageOf(error);
  if (codeOf(error) === "ERR_MODULE_NOT_FOUND") return message.startsWith("Cannot find package 'deneb' ");
  return codeOf(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED" && /deneb.package\.json|resolve-hook\.js/.test(message);
}

/** Limits after which a module that keeps the processor busy is not waited for any more. */
const MOST_LIMITS = 6;
/** Of one core during a limit: with less a process waits for something. */
const BUSY_SHARE = 0.05;

/**
 * An import cannot be cancelled; its result is ignored after the limit. A process that gets on is given more of them: on a busy machine
 * a large module takes long.
 */
async function withinLimit(exported: Promise<Exported>, limitMillis: number): Promise<Exported> {
  for (let limits = 1; ; limits += 1) {
    const before = process.cpuUsage();
    const loaded = await unlessLate(exported, limitMillis);
    if (loaded !== undefined) return loaded;
    const { user, system } = process.cpuUsage(before);
    const isBusy = (user + system) / MICROS > limitMillis * BUSY_SHARE;
    if (isBusy && limits < MOST_LIMITS) continue;
    const remedy = "avoid top-level await and I/O in its modules, or remove its folder";
    return { problem: { cause: `was not loaded within ${limits * limitMillis} ms`, remedy } };
  }
}

const MICROS = 1000;

/** Undefined after the time-out. */
async function unlessLate<T>(result: Promise<T>, limitMillis: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMillis);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A getter of somebody may throw. */
function judged(origin: string, definition: unknown, loading: Loading): readonly PluginProblem[] {
  try {
    return problemsOf(origin, definition, loading);
  } catch (error) {
    const remedy = "give definePlugin plain values";
    return [{ origin, cause: `has a definition that cannot be read: ${reasonOf(error)}`, remedy }];
  }
}

const COMPILED = 'let the compiler make ES modules, and write "type": "module" into its package.json';

function problemsOf(origin: string, definition: unknown, loading: Loading): readonly PluginProblem[] {
  if (!isRecord(definition)) {
    const remedy = "export the result of definePlugin of deneb/sdk as default, or a list of such results";
    return [{ origin, cause: "has no plugin definition as its default export", remedy }];
  }
  // What compilers make of "export default" for require: the definition is a member of it.
  if ("__esModule" in definition) return [{ origin, cause: "was compiled to a CommonJS module", remedy: COMPILED }];
  const who = typeof definition.type === "string" ? `declares the plugin "${definition.type}"` : "declares a plugin";
  const told = ({ fault, ...others }: DeclarationFault, join: string) => ({
    ...others,
    origin,
    kind: definition.kind,
    type: definition.type,
    cause: `${who}${join}${fault}`,
  });
  const version = versionFault(definition.apiVersion, loading.apiVersion ?? API_VERSION);
  const ofVersion = version === undefined ? [] : [told(version, ", ")];
  // A version that is not served may declare plugins otherwise.
  if (version !== undefined && version.harmless !== true) return ofVersion;
  const faults = [...memberFaults(definition), ...schemaFaults(definition, loading)];
  return [...ofVersion, ...faults.map((fault) => told(fault, " whose "))];
}

/** Fields may go round in a circle: what is below them is judged only when they do not. */
function schemaFaults(definition: Readonly<Record<string, unknown>>, { rules }: Loading): readonly DeclarationFault[] {
  const ofFields = fieldFaults(definition.config);
  const known = { members: Object.keys(members), formats: Object.keys(formatNames), isFormat };
  return ofFields.length > 0
    ? ofFields
    : [...declarationFaults(definition, known, rules), ...permissionFaults(definition)];
}

/** Something wrong with a plugin that was found; the agent runs without it, or without what is wrong. */
export interface PluginProblem extends LeftOutPlugin {
  /** True: the plugin is used nevertheless. */
  readonly harmless?: true;
}

function memberFaults(definition: Readonly<Record<string, unknown>>): readonly DeclarationFault[] {
  return Object.entries<Member>(members)
    .filter(([name, { holds }]) => !holds(definition[name]))
    .map(([name, { noun }]) => {
      const value = definition[name];
      const given = value === undefined ? "it is absent" : `it is ${shown(value)}`;
      return { fault: `"${name}" is not ${noun}: ${given}`, remedy: "correct it where definePlugin is called" };
    });
}

/** Here a loaded value gets the type of a definition. */
function isPlugin(value: unknown): value is AnyPlugin {
  return isRecord(value) && memberFaults(value).length === 0;
}
