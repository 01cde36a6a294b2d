/**
 * Characters that nobody sees, or that change how the text beside them is read: control characters, those that change the
 * direction of text, separators of lines, blanks without width, tags, and all others that fonts leave out. What joins or
 * varies the characters beside it stays where scripts and emoji need it, behind these.
 */
const unseen = new RegExp(
  [
    "[^\\P{Cc}\\n\\t]",
    "[\\p{Bidi_Control}\\u2028\\u2029\\ufff9-\\ufffb]",
    "(?![\\u200c\\u200d\\ufe0e\\ufe0f])\\p{Default_Ignorable_Code_Point}",
    "(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{Script=Arabic}\\p{M}])[\\u200c\\u200d]",
    "(?<!\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]",
  ].join("|"),
  "gu",
);
/** More than eight marks on one letter: they cover other lines. */
const tooManyMarks = /(\p{M}{8})\p{M}+/gu;
const plain = /^[\x20-\x7e\n\t]*$/;

/** The text with such characters written as JavaScript writes them, and at most eight marks on a letter. */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(unseen, escaped).replace(tooManyMarks, "$1…");
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}
