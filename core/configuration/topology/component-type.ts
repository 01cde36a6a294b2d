import type { AnyPlugin, Kind } from "../../sdk/index.js";
import type { LeftOutPlugin, PluginCatalogue } from "../../tokens.js";
import {
  type ConfigurationFault,
  type Environment,
  errorAt,
  type Location,
  nearest,
  noticeAt,
  type Reading,
} from "../configuration-fault.js";
import type { ComponentBlock, Setting } from "../file/settings.js";
import { substitute } from "../file/substitution.js";
import { absentType } from "../predecessor/absent-types.js";
import { acceptedName, nearClassName, pluginNamed } from "../predecessor/class-names.js";
import { fromSetting, type PropertyReading } from "../schema/given-values.js";

/** The line that names the type of a component, or where it should have been. */
export interface TypeSetting {
  readonly kind: Kind;
  readonly key: string;
  readonly setting: Setting | undefined;
  /** Line of the component, for when the type is missing. */
  readonly line: number | undefined;
  /** The type when none is given; absent: it must be given. */
  readonly preset?: string;
}

/** Finds the definition of a component by the type in the file. */
export function componentType(
  type: TypeSetting,
  block: ComponentBlock,
  { env, catalogue }: Environment,
): Reading<AnyPlugin> {
  const preset = type.preset === undefined ? {} : { default: type.preset };
  const { state, faults }: PropertyReading<string> = fromSetting(preset, type.setting, env);
  if (state === "unreadable") return { value: undefined, faults };
  const name = state === "absent" ? type.preset : state.content;
  const location = state === "absent" ? { key: type.key, line: type.line } : state.location;
  if (name === undefined) {
    const reason = `must be given: the type of ${type.kind === "interceptor" ? "an" : "a"} ${type.kind}; ${known(type.kind, catalogue)}`;
    return { value: undefined, faults: [...faults, errorAt(location, `${reason}${misspelt(type, block)}`)] };
  }
  const value = pluginNamed(type.kind, name, catalogue);
  if (value === undefined) return { value, faults: [...faults, unknownType(type.kind, name, location, catalogue)] };
  return { value, faults: [...faults, ...oldNameFaults(acceptedName(type.kind, name, catalogue), value, location)] };
}

/** Of a component without a type the other lines are not read, and so nobody else warns of this one. */
function misspelt({ key }: TypeSetting, block: ComponentBlock): string {
  const name = key.slice(block.key.length + 1);
  const near = nearest(
    name,
    [...block.settings.keys()].filter((one) => !one.includes(".")),
  );
  const setting = name === "" || near === undefined ? undefined : block.settings.get(near);
  return setting === undefined ? "" : `; "${setting.key}" is not read, write "${name}"`;
}

/** The type by its name in the catalogue, its expressions replaced; empty when there is none. */
export function typeName({ kind, setting, preset = "" }: TypeSetting, { env, catalogue }: Environment): string {
  return setting === undefined ? preset : acceptedName(kind, substitute(setting.value, env).text, catalogue);
}

function oldNameFaults(
  name: string,
  { type, spellings = [] }: AnyPlugin,
  location: Location,
): readonly ConfigurationFault[] {
  if (name.toLowerCase() === type) return [];
  const spelling = spellings.find(({ types }) => types.some((old) => old.toLowerCase() === name.toLowerCase()));
  const stands = Object.entries({ ...spelling?.means, ...spelling?.implies }).map(
    ([property, text]) => `${property} = ${text}`,
  );
  const more = stands.length === 0 ? "" : `, with ${stands.join(", ")} unless the file says otherwise`;
  return [noticeAt(location, `is an old spelling; the new one is "${type}"${more}`)];
}

function unknownType(kind: Kind, name: string, location: Location, catalogue: PluginCatalogue) {
  const near = nearClassName(kind, name, catalogue);
  const absent = near === undefined ? absentType(kind, name) : undefined;
  if (absent !== undefined) return errorAt({ ...location, value: name }, absent.reason);
  const leftOut = leftOutPlugin(kind, name, catalogue);
  if (leftOut !== undefined) {
    const { origin, cause, remedy } = leftOut;
    const reason = `is the type of a plugin that was left out; plugin "${origin}": ${cause}; ${remedy}`;
    return errorAt({ ...location, value: name }, reason);
  }
  const what = CLASS_NAME.test(name)
    ? `is a Java class name that no ${kind} plugin accepts`
    : `is no known type of ${kind}`;
  const meant = meantType(kind, name, catalogue);
  const reason = `${what}; ${known(kind, catalogue)}${meant === undefined ? ofOthers(name) : ""}`;
  return errorAt({ ...location, value: name, nearest: meant }, reason);
}

/** The plugin with this type that was found and has faults; of one that could not be read, the name of its package or folder. */
function leftOutPlugin(kind: Kind, name: string, { leftOut = [] }: PluginCatalogue): LeftOutPlugin | undefined {
  const written = name.toLowerCase();
  const declared = leftOut.find((one) => one.type === written && (one.kind === kind || one.kind === undefined));
  return declared ?? leftOut.find((one) => one.type === undefined && namesIn(one.origin).includes(written));
}

/** The last parts of a path or of the name of a package, without the beginning that those of plugins have. */
function namesIn(origin: string): readonly string[] {
  return origin
    .toLowerCase()
    .split(/[\\/]/)
    .slice(-3)
    .map((part) => part.replace(/^deneb-plugin-/, ""));
}

/** How to get a plugin of others with this type; nothing when no package can have its name. */
function ofOthers(type: string): string {
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(type)) return "";
  const search = `"deneb plugins search ${type}" finds packages of others`;
  const loads = `--plugin-packages loads an installed one, by convention deneb-plugin-${type}, and --plugins one in a folder`;
  return `; ${search}, ${loads}; an agent that runs knows those of its start`;
}

const CLASS_NAME = /^(?:\w+\.)+[A-Z][\w$]*$/;

function known(kind: Kind, catalogue: PluginCatalogue): string {
  const types = definitions(kind, catalogue).map(({ type }) => type);
  return types.length === 0
    ? `no plugin of that kind was found; check the plugin folders`
    : `known: ${types.join(", ")}`;
}

/** The type with a near name; of a class name the one of a near class, else the one whose name is part of it. */
function meantType(kind: Kind, name: string, catalogue: PluginCatalogue): string | undefined {
  const near = nearClassName(kind, name, catalogue);
  if (near !== undefined) return catalogue.find(kind, near)?.type;
  const candidates = definitions(kind, catalogue);
  if (!CLASS_NAME.test(name)) return nearestType(name, candidates);
  const className = name.split(".").at(-1)?.toLowerCase() ?? "";
  return candidates.find(({ type }) => className.includes(type))?.type;
}

/** Of short names many are near each other: a store such as tsdb is not meant as rdb, so the first letter is the same. */
function nearestType(name: string, candidates: readonly AnyPlugin[]): string | undefined {
  const initial = name.charAt(0).toLowerCase();
  const names = candidates
    .flatMap(({ type, aliases = [] }) => [type, ...aliases.filter((one) => !one.includes("."))])
    .filter((known) => known.length > SHORT || known.toLowerCase().startsWith(initial));
  const near = nearest(name, names);
  return candidates.find(({ type, aliases = [] }) => near !== undefined && [type, ...aliases].includes(near))?.type;
}

const SHORT = 4;

function definitions(kind: Kind, catalogue: PluginCatalogue): readonly AnyPlugin[] {
  return catalogue
    .list()
    .map(({ definition }) => definition)
    .filter((definition) => definition.kind === kind);
}
