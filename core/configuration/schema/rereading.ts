import type { Reread, Schema, Spelling } from "../../sdk/index.js";
import {
  type ConfigurationFault,
  type Environment,
  errorAt,
  MASK,
  noticeAt,
  unreadAt,
  warningAt,
} from "../configuration-fault.js";
import type { Setting, Settings } from "../file/settings.js";
import { substitute } from "../file/substitution.js";

/** A placeholder of a guide, where a value belongs. */
const PLACEHOLDER = /^(?:<[^<>]+>|\.\.\.|\u2026)$/;

interface OldSettings {
  /** By their names here. */
  readonly given: Settings;
  readonly schema: Schema;
  /** The spellings whose names the type has. */
  readonly named: readonly Spelling[];
  /** Whether a variable of the property itself is set: it takes precedence. */
  readonly hasOwnVariable: (name: string) => boolean;
}

/** The settings of a component whose type has an old name, with the texts that count here, and what is different. */
export function rereadSettings(
  { given, schema, named, hasOwnVariable }: OldSettings,
  environment: Pick<Environment, "env" | "leaveOut">,
): { readonly settings: Settings; readonly faults: readonly ConfigurationFault[] } {
  if (named.length === 0) return { settings: given, faults: [] };
  const all = [...given].map(([name, setting]) => {
    const isRead = Object.hasOwn(schema, name) && !hasOwnVariable(name);
    if (!isRead) return { name, setting, faults: [] };
    const isSecret = schema[name]?.sensitive === true;
    return { name, ...reread(setting, { name, named, isSecret }, environment) };
  });
  return {
    settings: new Map(all.flatMap(({ name, setting }) => (setting === undefined ? [] : [[name, setting] as const]))),
    faults: all.flatMap(({ faults }) => faults),
  };
}

interface Rereading {
  readonly name: string;
  readonly named: readonly Spelling[];
  readonly isSecret: boolean;
}

interface RereadSetting {
  /** Undefined where it is left out. */
  readonly setting: Setting | undefined;
  readonly faults: readonly ConfigurationFault[];
}

function reread(
  setting: Setting,
  { name, named, isSecret }: Rereading,
  { env, leaveOut }: Pick<Environment, "env" | "leaveOut">,
): RereadSetting {
  const { text, mistakes } = substitute(setting.value, env);
  if (mistakes.length > 0) return { setting, faults: [] };
  const { key, line } = setting;
  const location = { key, value: isSecret ? MASK : text, line };
  if (PLACEHOLDER.test(setting.value)) {
    return { setting, faults: [errorAt(location, "is a placeholder of an example; write a value")] };
  }
  const found = named.map(({ rereads = {} }) => rereads[name]?.(text)).find((one) => one !== undefined);
  if (found === undefined) return { setting, faults: [] };
  if (found.missing !== true) return counting(setting, found, location);
  if (leaveOut !== true) return { setting, faults: [] };
  return { setting: undefined, faults: [unreadAt(location, found.reason, "here-only")] };
}

/** The text of a setting is not expanded again, so `${` is escaped. */
function counting(setting: Setting, { reason, text }: Reread, location: Parameters<typeof noticeAt>[0]): RereadSetting {
  if (text === undefined) return { setting, faults: [warningAt(location, reason)] };
  const value = text.replaceAll("${", () => "$${");
  return { setting: { ...setting, value }, faults: [noticeAt(location, reason)] };
}
