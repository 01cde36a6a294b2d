import type { AnyPlugin, Schema, Spelling } from "../../sdk/index.js";
import { type ConfigurationFault, noticeAt, warningAt } from "../configuration-fault.js";
import type { Environment, EnvironmentVariables } from "../environment.js";
import type { ComponentBlock, Setting, Settings } from "../file/settings.js";
import { substitute } from "../file/substitution.js";
import { oldVariables } from "./old-variables.js";

/** A component whose lines may be spelt as in files of a predecessor. */
export interface Respelling {
  readonly definition: AnyPlugin;
  /** The type as the file writes it. */
  readonly typeName: string;
  /** The properties to respell; others are left unchanged. */
  readonly schema: Schema;
  readonly block: ComponentBlock;
}

type VariableSource = Pick<Environment, "env" | "readFile">;

/** The component in new spelling. Its lines keep their keys and line numbers, so faults name what the file holds. */
export function respelled(
  respelling: Respelling,
  environment: VariableSource,
): { readonly block: ComponentBlock; readonly faults: readonly ConfigurationFault[] } {
  const { definition, schema, block } = respelling;
  const spellings = spellingsOf(respelling, environment.env);
  if (spellings.length === 0) return { block, faults: [] };
  const renamed = renamedSettings(respelling, spellings);
  const variables = spellings.flatMap((spelling) => oldVariables(spelling, definition, schema, environment));
  const given = new Map([
    ...renamed.settings,
    ...variables.flatMap(({ name, setting }) => (setting === undefined ? [] : [[name, setting] as const])),
  ]);
  const implied = impliedSettings(respelling, spellings).filter(([name]) => !given.has(name));
  return {
    block: { ...block, settings: new Map([...given, ...implied]) },
    faults: [...renamed.faults, ...variables.map(({ fault }) => fault)],
  };
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
      faults.push(warningAt(locationOf(setting), `has no effect: "${newName}" is given too`));
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

function impliedSettings({ typeName, schema, block }: Respelling, spellings: readonly Spelling[]) {
  return spellings
    .filter(({ types }) => names(types, typeName))
    .flatMap(({ means = {}, implies = {} }) => Object.entries({ ...means, ...implies }))
    .filter(([name]) => Object.hasOwn(schema, name))
    .map(([name, value]) => [name, { key: `${block.key}.${name}`, value, line: block.line }] as const);
}

function locationOf({ key, line }: Setting) {
  return { key, line };
}
