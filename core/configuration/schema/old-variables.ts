import type { AnyPlugin, Schema, Spelling } from "../../sdk/index.js";
import { type ConfigurationFault, errorAt, noticeAt } from "../configuration-fault.js";
import type { Environment, EnvironmentVariables } from "../environment.js";
import type { Setting } from "../file/settings.js";

/** A property that an environment variable of a predecessor gives, as a line of the file; undefined when it cannot be. */
export interface OldVariable {
  readonly name: string;
  readonly setting: Setting | undefined;
  readonly fault: ConfigurationFault;
}

/** What the variables of a spelling give. A property whose own variable is set is omitted: that one takes precedence. */
export function oldVariables(
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
