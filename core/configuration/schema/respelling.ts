import type { AnyPlugin, Schema, Spelling } from "../../sdk/index.js";
import {
  type ConfigurationFault,
  type Environment,
  type EnvironmentVariables,
  errorAt,
  noticeAt,
  unreadAt,
} from "../configuration-fault.js";
import { doubtfulVariable } from "../file/doubtful-values.js";
import type { ComponentBlock, Setting, Settings } from "../file/settings.js";
import { substitute } from "../file/substitution.js";
import { rereadSettings } from "./rereading.js";

/** A component whose lines may be spelt as in files of a predecessor. */
interface Respelling {
  readonly definition: AnyPlugin;
  /** The type as the file writes it. */
  readonly typeName: string;
  /** The properties to respell; others are left unchanged. */
  readonly schema: Schema;
  readonly block: ComponentBlock;
}

type VariableSource = Pick<Environment, "env" | "readFile" | "leaveOut">;

/** The component in new spelling. Its lines keep their keys and line numbers, so faults name what the file holds. */
export function respelled(
  respelling: Respelling,
  environment: VariableSource,
): { readonly block: ComponentBlock; readonly faults: readonly ConfigurationFault[] } {
  const { definition, schema, block } = respelling;
  const spellings = spellingsOf(respelling, environment.env);
  if (spellings.length === 0) return { block, faults: [] };
  const renamed = renamedSettings(respelling, spellings);
  const variables = distinct(spellings.flatMap((one) => oldVariables(one, definition, schema, environment)));
  const given = new Map([
    ...renamed.settings,
    ...variables.flatMap(({ name, setting }) => (setting === undefined ? [] : [[name, setting] as const])),
  ]);
  const named = spellings.filter(({ types }) => names(types, respelling.typeName));
  const implied = impliedSettings(respelling, named).filter(([name]) => !given.has(name));
  const own = (name: string) => hasOwnVariable(name, schema, environment.env);
  const reread = rereadSettings({ given, schema, named, hasOwnVariable: own }, environment);
  return {
    block: { ...block, settings: new Map([...reread.settings, ...implied]) },
    faults: [
      ...renamed.faults,
      ...variables.map(({ fault }) => fault),
      ...variables.flatMap((variable) => doubts(variable, schema)),
      ...reread.faults,
    ],
  };
}

function doubts({ name, setting }: OldVariable, schema: Schema): readonly ConfigurationFault[] {
  if (setting === undefined || schema[name]?.format !== "text") return [];
  return doubtfulVariable(setting.key, setting.value);
}

/** Each variable once: several names of one type may declare it. */
function distinct(variables: readonly OldVariable[]): readonly OldVariable[] {
  return [...new Map(variables.map((variable) => [`${variable.name} ${variable.fault.key}`, variable])).values()];
}

function spellingsOf({ definition, typeName, block }: Respelling, env: EnvironmentVariables): readonly Spelling[] {
  const { spellings = [], config } = definition;
  const named = spellings.filter(({ types }) => names(types, typeName));
  if (named.length > 0) return named;
  return spellings.filter(({ means = {} }) =>
    Object.entries(means).every(([name, text]) => textOf(name, config, block.settings, env) === text),
  );
}

function names(types: readonly string[], typeName: string): boolean {
  return types.some((type) => type.toLowerCase() === typeName.toLowerCase());
}

function textOf(name: string, schema: Schema, settings: Settings, env: EnvironmentVariables): string {
  const property = schema[name];
  const variable = property?.env === undefined ? undefined : env[property.env];
  if (variable !== undefined && variable !== "") return variable;
  const setting = settings.get(name);
  return setting === undefined ? String(property?.default) : substitute(setting.value, env).text;
}

function renamedSettings({ definition, schema, block }: Respelling, spellings: readonly Spelling[]) {
  const prefixes = spellings.flatMap((spelling) => Object.entries(spelling.prefixes ?? {}));
  const settings = new Map<string, Setting>();
  const faults: ConfigurationFault[] = [];
  for (const [name, setting] of block.settings) {
    const newName = Object.hasOwn(definition.config, name) ? undefined : renamed(name, prefixes, schema);
    if (newName === undefined) settings.set(name, setting);
    else if (block.settings.has(newName))
      faults.push(unreadAt(locationOf(setting), `has no effect: "${newName}" is given too`, "there-too"));
    else {
      settings.set(newName, setting);
      faults.push(noticeAt(locationOf(setting), `is an old spelling; the new one is "${newName}"`));
    }
  }
  return { settings, faults };
}

function renamed(
  name: string,
  prefixes: readonly (readonly [old: string, now: string])[],
  schema: Schema,
): string | undefined {
  const candidates = prefixes.flatMap(([old, now]) => (name.startsWith(old) ? [now + name.slice(old.length)] : []));
  return candidates.find((candidate) => Object.hasOwn(schema, candidate));
}

function impliedSettings({ schema, block }: Respelling, named: readonly Spelling[]) {
  return named
    .flatMap(({ means = {}, implies = {} }) => Object.entries({ ...means, ...implies }))
    .filter(([name]) => Object.hasOwn(schema, name))
    .map(([name, value]) => [name, { key: `${block.key}.${name}`, value, line: block.line }] as const);
}

function locationOf({ key, line }: Setting) {
  return { key, line };
}

/** A property that an environment variable of a predecessor gives, as a line of the file; undefined when it cannot be. */
interface OldVariable {
  readonly name: string;
  readonly setting: Setting | undefined;
  readonly fault: ConfigurationFault;
}

/** What the variables of a spelling give. A property whose own variable is set is omitted: that one takes precedence. */
function oldVariables(
  { variables = {}, fileVariables = {} }: Spelling,
  { config }: AnyPlugin,
  schema: Schema,
  { env, readFile }: Pick<Environment, "env" | "readFile">,
): readonly OldVariable[] {
  const wanted = (name: string) => Object.hasOwn(schema, name) && !hasOwnVariable(name, config, env);
  const direct = valuesOf(variables, env).filter(({ name }) => wanted(name));
  const filed = valuesOf(fileVariables, env).filter(({ name }) => wanted(name));
  return [
    ...direct.map(({ variable, name, text }) => given(variable, name, text, newName(name, config[name]?.env))),
    ...filed.map(({ variable, name, text }) => {
      const rival = direct.find((other) => other.name === name);
      if (rival !== undefined) return twice(variable, name, rival.variable);
      return fromFile({ variable, name, path: text }, newName(name, config[name]?.envFile), readFile);
    }),
  ];
}

function valuesOf(names: Readonly<Record<string, string>>, env: EnvironmentVariables) {
  return Object.entries(names).flatMap(([variable, name]) => {
    const text = env[variable];
    return text === undefined || text === "" ? [] : [{ variable, name, text }];
  });
}

function hasOwnVariable(name: string, schema: Schema, env: EnvironmentVariables): boolean {
  const { env: direct, envFile } = schema[name] ?? {};
  return [direct, envFile].some((variable) => variable !== undefined && (env[variable] ?? "") !== "");
}

function newName(name: string, variable: string | undefined): string {
  return variable === undefined ? `the property "${name}" of the file` : `"${variable}"`;
}

/** The value of a variable is not expanded, so `${` is escaped. */
function given(variable: string, name: string, text: string, now: string): OldVariable {
  const setting = { key: variable, value: text.replaceAll("${", () => "$${"), line: undefined };
  return { name, setting, fault: noticeAt({ key: variable }, `is an old name of a variable; the new one is ${now}`) };
}

interface FileVariable {
  readonly variable: string;
  readonly name: string;
  readonly path: string;
}

function fromFile({ variable, name, path }: FileVariable, now: string, readFile: Environment["readFile"]): OldVariable {
  try {
    return given(variable, name, readFile(path).replace(/\r?\n$/, ""), now);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const fault = errorAt({ key: variable, value: path }, `names a file that cannot be read: ${message}`);
    return { name, setting: undefined, fault };
  }
}

function twice(variable: string, name: string, rival: string): OldVariable {
  const fault = errorAt({ key: variable }, `is set, and so is ${rival}; set only one of the two`);
  return { name, setting: undefined, fault };
}
