import { MASK } from "./secret.js";

/** What becomes of one setting of a properties file. */
export interface LineEdit {
  /** The last part of its key: what it was and what it is. */
  readonly rename?: { readonly from: string; readonly to: string };
  /** Its value. */
  readonly value?: string;
  /** Its value is not shown: an environment variable gives it. */
  readonly secret?: { readonly variable: string };
  /** Settings that follow it. */
  readonly added?: readonly { readonly key: string; readonly value: string }[];
  /** Why it becomes a comment. */
  readonly dropped?: string;
}

/** The text with the settings changed that start on these lines; everything else stays as it is. */
export function rewritten(text: string, edits: ReadonlyMap<number, LineEdit>): string {
  const lines = text.split(/\r\n|\r|\n/);
  let continued: "dropped" | "hidden" | undefined;
  return lines
    .flatMap((line, index) => {
      const edit = edits.get(index + 1);
      const before = continued;
      continued = isContinued(line) ? (stateOf(edit) ?? before) : undefined;
      if (before === "hidden") return [];
      if (edit?.secret !== undefined) return referring(line, edit.secret, { edit, number: index + 1 });
      if (edit?.dropped === undefined && before === undefined) return edit === undefined ? [line] : edited(line, edit);
      const why = edit?.dropped === undefined ? [] : [`# ${edit.dropped}:`];
      return [...why, `# ${line}`];
    })
    .join("\n");
}

function stateOf(edit: LineEdit | undefined): "dropped" | "hidden" | undefined {
  if (edit?.secret !== undefined) return "hidden";
  return edit?.dropped === undefined ? undefined : "dropped";
}

interface Hidden {
  readonly edit: LineEdit;
  readonly number: number;
}

/** The setting with a variable as its value; of one that is dropped only the name. */
function referring(line: string, { variable }: { readonly variable: string }, { edit, number }: Hidden) {
  if (edit.dropped !== undefined)
    return [`# ${edit.dropped}:`, ...edited(line, { value: MASK }).map((one) => `# ${one}`)];
  const where = `# ${variable} has to hold the value of line ${number} of the old file:`;
  return [where, ...edited(line, { ...edit, value: `\${env:${variable}}` })];
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
