import type { PluginCatalogue } from "../../tokens.js";
import { type ConfigurationFault, type Environment, faultText, isSecretName, MASK } from "../configuration-fault.js";
import { agentNames } from "../file/agent-sections.js";
import { parseProperties } from "../file/properties.js";
import type { Setting } from "../file/settings.js";
import { usedSettings } from "../predecessor/used-settings.js";
import { readConfiguration } from "../read-configuration.js";
import { comments, overriddenComments, shorterLists, unreadOf } from "./comment-edits.js";
import { type LineEdit, rewritten } from "./line-edits.js";
import { type MigratedComponent, migratedComponents } from "./migrated-components.js";

interface SecretVariable {
  readonly variable: string;
  readonly line: number;
}

interface Migration {
  /** The file in new spelling; comments and order are kept. */
  readonly text: string;
  /** The environment variables that stand for secrets in the text, and the line of the old file with the value. */
  readonly variables: readonly SecretVariable[];
  /** Those whose plugins were found; each with the spelling that the old file uses. */
  readonly components: readonly MigratedComponent[];
  /** What is wrong with the old file besides its spelling, by agent; those of lines that are now comments included. */
  readonly faults: readonly ConfigurationFault[];
  /** Whether something that the predecessor used became a comment. */
  readonly isLossy: boolean;
}

/** `management`: where the management interface of the new agent will listen. */
interface MigrationOptions extends Pick<Environment, "management"> {
  readonly secrets?: "shown" | "as-variables";
}

/**
 * A properties file of a predecessor in new spelling. Lines that nothing reads become comments. Secrets are kept
 * unchanged, or replaced by references to environment variables.
 */
export function migration(
  text: string,
  catalogue: PluginCatalogue,
  { secrets = "shown", management }: MigrationOptions = {},
): Migration {
  const { settings, overridden } = parseProperties(text);
  const agents = agentNames(settings);
  const listening = management === undefined ? {} : { management };
  const environment = { env: {}, readFile: unreadable, catalogue, leaveOut: true, ...listening };
  const used = agents.map((agent) => usedSettings(settings, agent, environment));
  const components = used.flatMap((agent) => migratedComponents(agent.settings, agent.name, catalogue));
  const faults = faultsOf(agents.flatMap((agent) => readConfiguration({ text, agent, ...environment }).faults));
  const unread = [...faults.flatMap(unreadOf), ...used.flatMap(({ removed }) => removed)];
  const ofComponents = components.flatMap((component) => component.edits);
  const edits = new Map<number, LineEdit>([
    ...used.flatMap((agent) => shorterLists(settings, agent.settings)),
    ...ofComponents,
    ...comments(settings, unread),
    ...ofComponents.filter(([, { dropped }]) => dropped !== undefined),
    ...overriddenComments(overridden),
  ]);
  const migrated = { components, faults, isLossy: unread.some(({ isLoss }) => isLoss) };
  if (secrets === "shown") return { ...migrated, text: rewritten(text, edits), variables: [] };
  const hidden = secretEdits({ text, settings, components, faults, edits });
  const variables = [...hidden].flatMap(([line, { secret }]) =>
    secret?.variable === undefined ? [] : [{ line, variable: secret.variable }],
  );
  return { ...migrated, text: rewritten(text, new Map([...edits, ...hidden])), variables };
}

/** Each fault once, without new names and unset variables: these need not be set where a file is migrated. */
function faultsOf(faults: readonly ConfigurationFault[]): readonly ConfigurationFault[] {
  const besides = faults.filter(({ severity, unsetVariable }) => severity !== "notice" && unsetVariable === undefined);
  return [...new Map(besides.map((fault) => [faultText(fault), fault])).values()];
}

function unreadable(path: string): never {
  throw new Error(`"${path}" is not read while a file is migrated`);
}

interface OldFile {
  readonly text: string;
  readonly settings: readonly Setting[];
  readonly components: readonly MigratedComponent[];
  readonly faults: readonly ConfigurationFault[];
  /** What becomes of its lines otherwise. */
  readonly edits: ReadonlyMap<number, LineEdit>;
}

const REFERENCE = /^\$\{env:\w+\}$/;
/** The name of a part of a value, such as `ssl` and `password` in `ssl=true&password=x`. */
const PARAMETER = /(?<![\w-])([\w-]+)=/g;
const URL_WITH_PASSWORD = /:\/\/[^/\s:@]*:[^/\s@]+@/;
/** A setting, anywhere in a comment too. */
const LIKE_A_SETTING = /(?<![^\s=:#!])([^\s=:#!]+)(?=(\s*[=:]\s*\S+))/g;

/** The edits of a file, by line, for lines that show a secret: settings in effect, overridden settings, and comments. */
function secretEdits({ text, settings, components, faults, edits }: OldFile): ReadonlyMap<number, LineEdit> {
  // A misspelt name of a secret is found by what was probably meant.
  const masked = faults.flatMap(({ value, line }) =>
    value === MASK && line !== undefined ? [[line, true] as const] : [],
  );
  const secrecy = new Map([...components.flatMap((component) => [...component.secrecy]), ...masked]);
  const counting = new Map(
    settings.flatMap((setting) => (setting.line === undefined ? [] : [[setting.line, setting]])),
  );
  const variables = new Set<string>();
  return new Map(
    text.split(/\r\n|\r|\n/).flatMap((content, index) => {
      const line = index + 1;
      const edit = edits.get(line);
      const setting = counting.get(line);
      const shown = setting === undefined ? likeSettings(content) : [setting];
      if (!shown.some((one) => isSecret(one, secrecy.get(line)))) return [];
      const isRead = setting !== undefined && edit?.dropped === undefined;
      const variable = isRead ? distinct(variableName(setting.key, edit), variables) : undefined;
      return [[line, { ...edit, secret: { variable } }] as const];
    }),
  );
}

interface Shown {
  readonly key: string;
  readonly value: string;
}

function likeSettings(line: string): readonly Shown[] {
  return [...line.matchAll(LIKE_A_SETTING)].map(([, key = "", value = ""]) => ({ key, value }));
}

function isSecret({ key, value }: Shown, known: boolean | undefined): boolean {
  if (value === "" || REFERENCE.test(value)) return false;
  if ([...value.matchAll(PARAMETER)].some(([, name = ""]) => isSecretName(name) && !isFile(name))) return true;
  return URL_WITH_PASSWORD.test(value) || (known ?? isSecretName(key.split(".").at(-1) ?? key));
}

/** `sslkey` of a database names a file. */
function isFile(parameter: string): boolean {
  return parameter.toLowerCase() === "sslkey";
}

function variableName(key: string, edit: LineEdit | undefined): string {
  const { from = "", to = "" } = edit?.rename ?? {};
  return `${key.slice(0, key.length - from.length)}${to}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
}

function distinct(name: string, used: Set<string>): string {
  let found = name;
  for (let number = 2; used.has(found); number += 1) found = `${name}_${number}`;
  used.add(found);
  return found;
}
