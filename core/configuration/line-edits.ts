/** What becomes of one setting of a properties file. */
export interface LineEdit {
  /** The last part of its key: what it was and what it is. */
  readonly rename?: { readonly from: string; readonly to: string };
  /** Its value. */
  readonly value?: string;
  /** Settings that follow it. */
  readonly added?: readonly { readonly key: string; readonly value: string }[];
  /** Why it becomes a comment. */
  readonly dropped?: string;
}

/** The text with the settings changed that start on these lines; everything else stays as it is. */
export function rewritten(text: string, edits: ReadonlyMap<number, LineEdit>): string {
  const lines = text.split(/\r\n|\r|\n/);
  let dropping = false;
  return lines
    .flatMap((line, index) => {
      const edit = edits.get(index + 1);
      if (edit?.dropped === undefined && !dropping) return edit === undefined ? [line] : edited(line, edit);
      const why = edit?.dropped === undefined ? [] : [`# ${edit.dropped}:`];
      dropping = isContinued(line);
      return [...why, `# ${line}`];
    })
    .join("\n");
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
