/**
 * Characters that nobody sees, or that change how the text beside them is read: control characters, those that change the
 * direction of text, separators of lines, and blanks without width.
 */
const unseen = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u00ad\u200b\u2028\u2029\u2060-\u2064\ufeff]/gu;
/** More than eight marks on one letter: they cover other lines. */
const tooManyMarks = /(\p{M}{8})\p{M}+/gu;
const plain = /^[\x20-\x7e\n\t]*$/;

/** The text with such characters written as JSON writes them, and at most eight marks on a letter. */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(unseen, escaped).replace(tooManyMarks, "$1…");
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
