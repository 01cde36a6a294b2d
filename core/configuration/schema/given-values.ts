import type { Property } from "../../sdk/index.js";
import {
  type ConfigurationFault,
  type Environment,
  type EnvironmentVariables,
  errorAt,
  type Location,
  MASK,
  unreadAt,
  warningAt,
} from "../configuration-fault.js";
import { doubtfulVariable } from "../file/doubtful-values.js";
import { type Setting, type Settings, settingsBelow } from "../file/settings.js";
import { substitute } from "../file/substitution.js";

/** What was given for a property, and where. */
export interface Given<Content = string | Readonly<Record<string, string>>> {
  readonly content: Content;
  readonly location: Location;
}

export interface PropertyReading<Content = string | Readonly<Record<string, string>>> {
  /** Absent: the default applies. Unreadable: a fault says why, and the property is not checked further. */
  readonly state: Given<Content> | "absent" | "unreadable";
  readonly faults: readonly ConfigurationFault[];
}

/** What decides how a given text is checked and shown. */
type ValueTraits = Pick<Property, "default" | "sensitive">;

/** The text of a property: its environment variable, else the file that one names, else the line of the file. */
export function propertyText(
  property: Property,
  setting: Setting | undefined,
  environment: Environment,
): PropertyReading<string> {
  const reading = fromEnvironment(property, environment) ?? secretLater(property, setting, environment);
  if (property.deprecated === undefined || typeof reading.state === "string") return reading;
  return {
    ...reading,
    faults: [...reading.faults, warningAt(reading.state.location, `is deprecated: ${property.deprecated}`)],
  };
}

/** The text of a line; for a check that of a secret whose variable is not set is its expression. */
function secretLater(
  property: Property,
  setting: Setting | undefined,
  { env, secretsMayBeUnset }: Environment,
): PropertyReading<string> {
  const reading = fromSetting(property, setting, env);
  const isUnset = reading.state === "unreadable" && reading.faults.every((fault) => fault.unsetVariable !== undefined);
  if (setting === undefined || !isUnset || secretsMayBeUnset !== true || property.sensitive !== true) return reading;
  const faults = reading.faults.map((fault) => ({ ...fault, severity: "warning" as const }));
  return { state: { content: setting.value, location: { key: setting.key, value: MASK, line: setting.line } }, faults };
}

/** The text of a line, its expressions replaced. An empty one counts as not given. */
export function fromSetting(
  property: ValueTraits,
  setting: Setting | undefined,
  env: EnvironmentVariables,
): PropertyReading<string> {
  if (setting === undefined) return { state: "absent", faults: [] };
  const { key, line } = setting;
  const { text, mistakes } = substitute(setting.value, env);
  if (mistakes.length > 0) {
    const value = (expression: string) => (property.sensitive === true ? MASK : expression);
    const faults = mistakes.map(({ expression, reason, unsetVariable }) => ({
      ...errorAt({ key, value: value(expression), line }, reason),
      ...(unsetVariable === undefined ? {} : { unsetVariable }),
    }));
    return { state: "unreadable", faults };
  }
  return given(property, text, { key, line });
}

function fromEnvironment(property: Property, { env, readFile }: Environment): PropertyReading<string> | undefined {
  const direct = variable(env, property.env);
  const file = variable(env, property.envFile);
  if (direct === undefined && file === undefined) return undefined;
  if (direct !== undefined && file !== undefined) {
    const reason = `is set, and so is ${direct.name}; set only one of the two`;
    return { state: "unreadable", faults: [errorAt({ key: file.name, value: file.value }, reason)] };
  }
  if (direct !== undefined) {
    const { state, faults } = given(property, direct.value, { key: direct.name });
    // Texts of other formats are trimmed, or refused.
    const doubts = property.format === "text" ? doubtfulVariable(direct.name, direct.value) : [];
    return { state, faults: [...faults, ...doubts] };
  }
  return file === undefined ? undefined : fromFile(property, file, readFile);
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function variable(env: EnvironmentVariables, name: string | undefined): Variable | undefined {
  const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
  return name === undefined || value === undefined || value === "" ? undefined : { name, value };
}

function fromFile(property: Property, file: Variable, readFile: Environment["readFile"]): PropertyReading<string> {
  try {
    return given(property, readFile(file.value).replace(/\r?\n$/, ""), { key: file.name });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const reason = `names a file that cannot be read: ${message}`;
    return { state: "unreadable", faults: [errorAt({ key: file.name, value: file.value }, reason)] };
  }
}

function given(property: ValueTraits, text: string, location: Location): PropertyReading<string> {
  if (text !== "") {
    return {
      state: { content: text, location: { ...location, value: property.sensitive === true ? MASK : text } },
      faults: [],
    };
  }
  // Where the default is empty, an empty value equals the default.
  if (property.default === "" || (Array.isArray(property.default) && property.default.length === 0)) {
    return { state: "absent", faults: [] };
  }
  const remedy = property.default === undefined ? "give a value" : "give a value, or remove it for the default";
  return { state: "absent", faults: [unreadAt(location, `is empty and counts as not given; ${remedy}`, "there-too")] };
}

const SUFFIX = ".*";

/** The prefix of the entries of a map in a file: the map `storages.*` is written `storages.<entry>`. */
export function mapPrefix(property: string): string {
  return sharesItsName(property) ? property.slice(0, -SUFFIX.length) : property;
}

/** True when the name before the entries is another property. */
function sharesItsName(property: string): boolean {
  return property.endsWith(SUFFIX);
}

interface MapProperty {
  readonly name: string;
  readonly property: Property;
  readonly settings: Settings;
}

/** Collects the lines below a property of the format `map`. */
export function propertyMap({ name, property, settings }: MapProperty, env: EnvironmentVariables): PropertyReading {
  const direct = sharesItsName(name) ? undefined : settings.get(name);
  if (direct !== undefined) {
    const reason = `must be given as ${name}.<name> = <value>`;
    return { state: "unreadable", faults: [errorAt({ key: direct.key, line: direct.line }, reason)] };
  }
  const traits = property.sensitive === undefined ? {} : { sensitive: property.sensitive };
  const readings = [...settingsBelow(settings, mapPrefix(name))].map(([entry, setting]) => ({
    entry,
    setting,
    ...fromSetting(traits, setting, env),
  }));
  const faults = readings.flatMap((reading) => reading.faults);
  if (readings.some(({ state }) => state === "unreadable")) return { state: "unreadable", faults };
  const entries = readings.flatMap(({ entry, state }) => (typeof state === "string" ? [] : [[entry, state.content]]));
  const first = readings[0];
  if (first === undefined || entries.length === 0) return { state: "absent", faults };
  return { state: { content: Object.fromEntries(entries), location: locationOf(first.setting) }, faults };
}

function locationOf({ key, line }: Setting): Location {
  return { key, line };
}
