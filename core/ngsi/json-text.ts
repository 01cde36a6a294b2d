const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;

/** Whether a JSON text nests objects and arrays deeper than so many levels. Sees to brackets only: it need not be valid. */
export function isNestedDeeperThan(levels: number, text: string): boolean {
  const braces = count("{", text, levels);
  if (braces <= levels && braces + count("[", text, levels) <= levels) return false;
  let depth = 0;
  for (let at = 0; at < text.length && depth <= levels; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === BRACKET || code === BRACE) depth += 1;
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return depth > levels;
}

/** How often a character is in the text; counting ends above `most`. Faster than a look at every character. */
function count(character: string, text: string, most: number): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1 && found <= most; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}

/**
 * Where the string that starts with the quote at `start` ends; the end of the text when nothing closes it.
 * By hand, because a regular expression over a string of megabytes overflows its stack.
 */
export function closingQuote(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - 1 - before) % 2 === 1;
}
