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

const BACKSLASH = 0x5c;
