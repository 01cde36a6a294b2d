import { closest, distance } from "fastest-levenshtein";
import type { PluginCatalogue } from "../tokens.js";

/**
 * Something wrong in a configuration. An error prevents the start of the agent and fails a check, a warning does neither, a
 * notice reports the new spelling of an old name.
 */
export interface ConfigurationFault {
  readonly severity: "error" | "warning" | "notice";
  /** The full key as written in the file, the environment variable or the command line option; `agent` for its name. */
  readonly key: string;
  /** The offending value; absent where there is none, masked where it is a secret. */
  readonly value?: string;
  /** What is wrong, and what is allowed. */
  readonly reason: string;
  /** The nearest known name, when one is near. */
  readonly nearest?: string;
  /** Line of the file, counted from 1. */
  readonly line?: number;
  /** Of lines without effect, those of the key and below it: whether the predecessor of the agent ignored them too. */
  readonly unread?: Unread;
  /** The environment variable that the value needs and that is not set. */
  readonly unsetVariable?: string;
}

type Unread = "there-too" | "here-only";

/** Where a fault is; members that are not known may be undefined. */
export interface Location {
  readonly key: string;
  readonly value?: string | undefined;
  readonly nearest?: string | undefined;
  readonly line?: number | undefined;
}

export function errorAt(location: Location, reason: string): ConfigurationFault {
  return faultAt("error", location, reason);
}

export function warningAt(location: Location, reason: string): ConfigurationFault {
  return faultAt("warning", location, reason);
}

/** A warning that the lines of this key, and those below it, have no effect. */
export function unreadAt(location: Location, reason: string, unread: Unread): ConfigurationFault {
  return { ...warningAt(location, reason), unread };
}

export function noticeAt(location: Location, reason: string): ConfigurationFault {
  return faultAt("notice", location, reason);
}

/** True when none of the faults prevents a start. */
export function startable(faults: readonly ConfigurationFault[]): boolean {
  return faults.every((fault) => fault.severity !== "error");
}

function faultAt(
  severity: ConfigurationFault["severity"],
  { key, value, nearest, line }: Location,
  reason: string,
): ConfigurationFault {
  return {
    severity,
    key,
    ...(value === undefined ? { reason } : { value: withoutSecrets(value), reason: withoutSecretsOf(value, reason) }),
    ...(nearest === undefined ? {} : { nearest }),
    ...(line === undefined ? {} : { line }),
  };
}

/** One readable line: `line 12: a1.sinks.s.batch_size = "abc": must be a whole number, 1 or more`. */
export function faultText({ key, value, reason, nearest, line }: ConfigurationFault): string {
  const location = line === undefined ? "" : `line ${line}: `;
  const shown = value === undefined ? "" : ` = ${JSON.stringify(shortened(value))}`;
  const question = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return visible(`${location}${shortened(key)}${shown}: ${shortened(reason)}${question}`);
}

/** The same in fields, for a line of a log. */
export function faultFields({ key, value, reason, nearest, line }: ConfigurationFault): object {
  return {
    ...(line === undefined ? {} : { line }),
    key: visible(shortened(key)),
    ...(value === undefined ? {} : { value: visible(shortened(value)) }),
    reason: visible(shortened(reason)),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

/** Blanks that are not the usual one, and characters without width or of the direction of text, as pages of the web bring them along. */
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The text with the characters that look like nothing, or like a blank, as a properties file may write them. */
function visible(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const MOST_SHOWN = 1000;

/** A line that fills the terminal hides the others. */
function shortened(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}... (${text.length} characters)` : text;
}

/**
 * The known name that was probably meant: the same, one with this first or last part, the only one that goes on from it, or one a few
 * letters away, in any letter case; else the name itself behind a known one in the letter case of that.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  const same = known.find((candidate) => candidate.toLowerCase() === written);
  if (same !== undefined) return same;
  const prefixed = known.find((candidate) => {
    const lower = candidate.toLowerCase();
    return lower.endsWith(`.${written}`) || lower.startsWith(`${written}.`);
  });
  if (prefixed !== undefined || known.length === 0) return prefixed;
  const [longer, ...others] = known.filter((candidate) => candidate.toLowerCase().startsWith(written));
  if (longer !== undefined && others.length === 0) return longer;
  const best = closest(
    written,
    known.map((candidate) => candidate.toLowerCase()),
  );
  if (distance(written, best) > Math.ceil(written.length / 3)) {
    const above = known.find((candidate) => written.startsWith(`${candidate.toLowerCase()}.`));
    return above === undefined || name.startsWith(above) ? undefined : above + name.slice(above.length);
  }
  return known.find((candidate) => candidate.toLowerCase() === best);
}

/** Shown in a fault instead of a secret value. */
export const MASK = "***";

const SECRET_NAME = /pass|pasw|pwd|pw$|secret|token|credential|authori[sz]ation|bearer|cookie|key$/i;

/** Whether the name of an unknown key suggests that its value is a secret. */
export function isSecretName(key: string): boolean {
  return SECRET_NAME.test(key);
}

/** The value, or the mask when the name of an unknown key suggests that it is a secret. */
export function shownValue(key: string, value: string): string {
  return isSecretName(key) ? MASK : value;
}

/** An address without a scheme, up to the password of its user. */
const ADDRESS = /^[^\s/@:]+:(?!\/\/)/;
/** From the beginning of a word on, so that a long text is read once. */
const PARAMETER = /(?<![\w-])([\w-]+)\s*[=:]/g;

/** The value, with a mask for the user of a URL and for all that follows a parameter whose name suggests a secret. */
export function withoutSecrets(value: string): string {
  const text = value.includes("@") ? value.replace(/.+/g, withoutUser) : value;
  const secret = [...text.matchAll(PARAMETER)].find(([, name = ""]) => isSecretName(name) || /auth/i.test(name));
  return secret === undefined ? text : `${text.slice(0, secret.index + secret[0].length)}${MASK}`;
}

/** A line with a mask for the user of a URL, or of an address without a scheme, and the password. */
function withoutUser(line: string): string {
  const end = line.lastIndexOf("@");
  if (end !== -1 && ADDRESS.test(line)) return MASK + line.slice(end);
  const start = line.indexOf("//") + 2;
  return start < 2 || start > end ? line : line.slice(0, start) + MASK + line.slice(end);
}

/** The reason, which may repeat the value or a word of it. */
function withoutSecretsOf(value: string, reason: string): string {
  const secret = [value, ...new Set(value.split(/[\s,]+/))].filter((part) => withoutSecrets(part) !== part);
  return secret.reduce((text, part) => text.replaceAll(part, () => withoutSecrets(part)), reason);
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** What a configuration is read with, besides its text: variables, files and plugins. */
export interface Environment {
  readonly env: EnvironmentVariables;
  /** Reads a file that an environment variable names; throws when it cannot. */
  readonly readFile: (path: string) => string;
  readonly catalogue: PluginCatalogue;
  /** For a migration: what a predecessor has and this agent has not is left out with a warning, and is no error. */
  readonly leaveOut?: boolean;
  /** For a check: a secret whose variable is not set here is a warning, and no error. */
  readonly secretsMayBeUnset?: boolean;
  /** Where the management interface will listen; absent: not known. */
  readonly management?: { readonly host: string; readonly port: number };
}

/** What was read; the value is undefined where a fault is an error. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly faults: readonly ConfigurationFault[];
}
