import type { LineEdit } from "./line-edits.js";
import type { MigratedComponent } from "./migrated-components.js";
import { isSecretName } from "./secret.js";
import type { Setting } from "./setting.js";

export interface OldFile {
  readonly text: string;
  readonly settings: readonly Setting[];
  readonly components: readonly MigratedComponent[];
  /** What becomes of its lines otherwise. */
  readonly edits: ReadonlyMap<number, LineEdit>;
}

const REFERENCE = /^\$\{env:\w+\}$/;
const URL_WITH_PASSWORD = /:\/\/[^/\s:@]*:[^/\s@]+@/;
/** A setting, anywhere in a comment too. */
const LIKE_A_SETTING = /([^\s=:#!]+)(?=(\s*[=:]\s*\S+))/g;

/** The edits of a file, by line, for those lines that show a secret: settings that count, others, and comments. */
export function secretEdits({ text, settings, components, edits }: OldFile): ReadonlyMap<number, LineEdit> {
  const secrecy = new Map(components.flatMap((component) => [...component.secrecy]));
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
  return URL_WITH_PASSWORD.test(value) || (known ?? isSecretName(key.split(".").at(-1) ?? key));
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
