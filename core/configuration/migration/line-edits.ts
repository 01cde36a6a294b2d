import { MASK } from "../configuration-fault.js";

/** What becomes of one setting of a properties file. */
export interface LineEdit {
  /** The last part of its key: what it was and what it is. */
  readonly rename?: { readonly from: string; readonly to: string };
  /** Its value. */
  readonly value?: string;
  /** Its value is hidden: a reference to a variable replaces it, or a mask where the setting is not read. */
  readonly secret?: { readonly variable: string | undefined };
  /** Settings that follow it. */
  readonly added?: readonly { readonly key: string; readonly value: string }[];
  /** Why it becomes a comment; empty where a line before says it. */
  readonly dropped?: string;
}

/** The text with the settings changed that start on these lines; everything else is unchanged. */
export function rewritten(text: string, edits: ReadonlyMap<number, LineEdit>): string {
  const lines = text.split(/\r\n|\r|\n/);
  let continued: Continuation | undefined;
  return lines
    .flatMap((line, index) => {
      const before = continued;
      const edit = edits.get(index + 1);
      continued = isContinued(line) ? (fateOf(edit) ?? before) : undefined;
      if (edit?.secret !== undefined) return hidden(line, edit, index + 1);
      if (before === "gone") return [];
      if (edit?.dropped === undefined && before === undefined) return edit === undefined ? [line] : edited(line, edit);
      return [...whyDropped(edit?.dropped), `# ${line}`];
    })
    .join("\n");
}

/** What becomes of the lines that continue a setting. */
type Continuation = "comment" | "gone";

function fateOf({ secret, value, dropped }: LineEdit = {}): Continuation | undefined {
  if (secret !== undefined) return "gone";
  if (dropped !== undefined) return "comment";
  return value === undefined ? undefined : "gone";
}

function whyDropped(reason: string | undefined): readonly string[] {
  return reason === undefined || reason === "" ? [] : [`# ${reason}:`];
}

/** The setting with a variable as its value; of a setting that is not read, only the name. */
function hidden(line: string, edit: LineEdit, number: number): readonly string[] {
  const variable = edit.secret?.variable;
  if (edit.dropped !== undefined) return [...whyDropped(edit.dropped), `# ${masked(line)}`];
  if (variable === undefined) return [masked(line)];
  const where = `# ${variable} must hold the value of line ${number} of the old file:`;
  return [where, ...edited(line, { ...edit, value: `\${env:${variable}}` })];
}

function masked(line: string): string {
  if (/^\s*[#!]/.test(line)) return `# ${MASK}`;
  return line.replace(/^(\s*[#!]*\s*[^\s=:#!]+\s*[=:]?\s*).*$/s, (_, start: string) => `${start}${MASK}`);
}

const KEY_AND_REST = /^(\s*)((?:\\.|[^\s=:\\])+)(\s*[=:]?\s*)(.*)$/s;

function edited(line: string, { rename, value, added = [] }: LineEdit): readonly string[] {
  const [, indent = "", key = "", separator = "", rest = ""] = KEY_AND_REST.exec(line) ?? [];
  const newKey = rename === undefined ? key : key.slice(0, key.length - rename.from.length) + rename.to;
  return [`${indent}${newKey}${separator}${value ?? rest}`, ...added.map((one) => `${one.key} = ${one.value}`)];
}

/** An odd number of backslashes at its end continues a line. */
function isContinued(line: string): boolean {
  return (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
}
