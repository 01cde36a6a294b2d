import type { Property } from "../sdk/index.js";
import type { Fault } from "./fault.js";
import { errorAt, type Place, warningAt } from "./fault-at.js";
import { MASK } from "./secret.js";
import type { Setting } from "./setting.js";
import { substitute } from "./substitution.js";
import type { Environment, Surroundings } from "./surroundings.js";

/** What was given for a property, and where. */
export interface Given<Content = string | Readonly<Record<string, string>>> {
  readonly content: Content;
  readonly place: Place;
}

export interface PropertyReading<Content = string | Readonly<Record<string, string>>> {
  /** Absent: the default counts. Unreadable: a fault says why, and nothing more is to be said about the property. */
  readonly state: Given<Content> | "absent" | "unreadable";
  readonly faults: readonly Fault[];
}

/** What decides how a given text is judged and shown. */
type Nature = Pick<Property, "default" | "sensitive">;

/** The text of a property: its environment variable, else the file that one names, else the line of the file. */
export function propertyText(
  property: Property,
  setting: Setting | undefined,
  surroundings: Surroundings,
): PropertyReading<string> {
  const reading = fromEnvironment(property, surroundings) ?? fromSetting(property, setting, surroundings.env);
  if (property.deprecated === undefined || typeof reading.state === "string") return reading;
  return {
    ...reading,
    faults: [...reading.faults, warningAt(reading.state.place, `is deprecated: ${property.deprecated}`)],
  };
}

/** The text of a line, its expressions replaced. An empty one counts as not given. */
export function fromSetting(property: Nature, setting: Setting | undefined, env: Environment): PropertyReading<string> {
  if (setting === undefined) return { state: "absent", faults: [] };
  const { key, line } = setting;
  const { text, mistakes } = substitute(setting.value, env);
  if (mistakes.length > 0) {
    const value = (expression: string) => (property.sensitive === true ? MASK : expression);
    const faults = mistakes.map(({ expression, reason }) => errorAt({ key, value: value(expression), line }, reason));
    return { state: "unreadable", faults };
  }
  return given(property, text, { key, line });
}

function fromEnvironment(property: Property, { env, readFile }: Surroundings): PropertyReading<string> | undefined {
  const direct = variable(env, property.env);
  const file = variable(env, property.envFile);
  if (direct === undefined && file === undefined) return undefined;
  if (direct !== undefined && file !== undefined) {
    const reason = `is set, and so is ${direct.name}; set only one of the two`;
    return { state: "unreadable", faults: [errorAt({ key: file.name, value: file.value }, reason)] };
  }
  if (direct !== undefined) return given(property, direct.value, { key: direct.name });
  return file === undefined ? undefined : fromFile(property, file, readFile);
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function variable(env: Environment, name: string | undefined): Variable | undefined {
  const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
  return name === undefined || value === undefined || value === "" ? undefined : { name, value };
}

function fromFile(property: Property, file: Variable, readFile: Surroundings["readFile"]): PropertyReading<string> {
  try {
    return given(property, readFile(file.value).replace(/\r?\n$/, ""), { key: file.name });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const reason = `names a file that cannot be read: ${message}`;
    return { state: "unreadable", faults: [errorAt({ key: file.name, value: file.value }, reason)] };
  }
}

function given(property: Nature, text: string, place: Place): PropertyReading<string> {
  if (text !== "") {
    return {
      state: { content: text, place: { ...place, value: property.sensitive === true ? MASK : text } },
      faults: [],
    };
  }
  // Where the default is empty too, an empty value says what it means.
  if (property.default === "" || (Array.isArray(property.default) && property.default.length === 0)) {
    return { state: "absent", faults: [] };
  }
  const remedy = property.default === undefined ? "give a value" : "give a value, or remove it for the default";
  return { state: "absent", faults: [warningAt(place, `is empty and counts as not given; ${remedy}`)] };
}
