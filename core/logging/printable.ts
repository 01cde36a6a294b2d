/**
 * Characters that change what a terminal or a viewer of logs shows: the control characters of ASCII and beyond (C1), the
 * line separators, and those that change the direction of text.
 */
const unseen = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const unseenButLayout = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029]/gu;

/** The text with such characters escaped, line ends included: a value cannot start a line of its own. */
export function onOneLine(text: string): string {
  return text.replace(unseen, escaped);
}

/** The same for text of several lines: line feeds and tabs are kept. JSON text keeps its value. */
export function printable(text: string): string {
  return text.replace(unseenButLayout, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return escapes.get(character) ?? `\\u${code.toString(16).padStart(4, "0")}`;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);
