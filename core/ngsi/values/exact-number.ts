import { type JsonLimits, limitExceeded } from "../limits.js";

/**
 * Which digits of a number count. `precise`: those of its decimal value, so `23.0` is `23`. `sent`: the very characters
 * of the text, so `23.0` and `1e2` stay what they are.
 */
export type Digits = "precise" | "sent";

/**
 * A number of a JSON text that a JavaScript number would not write with the digits that count; as it was sent.
 * @stable
 */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  /** `JSON.stringify` cannot write the digits alone: it writes a marked string, and {@link withoutMarks} removes the mark. */
  toJSON(): string {
    return MARK + this.digits;
  }
}

// A lone surrogate: parseJson replaces those of a JSON text, so no string of a notification can look like a marked number.
const MARK = "\ud800";
const MARK_IN_JSON = "\\ud800";

// At most 15 digits with an exponent of one or two digits keep their value.
const LONG = 16;
const BEFORE_NUMBER = /[:,[\s]-?$/;
// Ids such as "notification:-5934503869881517956" end with a quote instead.
const AFTER_NUMBER = /^(?:[,}\]\seE]|$)/;
const LARGE_EXPONENT = /[:,[\s]-?[\d.]+[eE][+-]?\d{3}/;
// Found fast, and hardly ever there.
const EXPONENT = /\d[eE][+-]?\d{3}/;
const NUMBER_ALONE = /^-?\d/;
// Written differently by JavaScript: an exponent, a last zero behind the point, many zeros or digits, minus zero.
const ODD_NUMBER = /(?:^|[:,[\s])(?:-?(?:[\d.]{16}|0\.0{6}|\d+\.\d*0(?!\d)|\d+(?:\.\d+)?[eE])|-0(?![.\d]))/;
const QUOTE_OR_NUMBER = /"|-?\d[\d.eE+-]*/g;
const MARKED_NUMBER = /"\\ud800([^"]*)"/g;

/**
 * Whether a JSON text may hold a number that loses digits when parsed. A string that looks like such a number is
 * found as well, which costs time only.
 */
export function holdsExactNumber(text: string, digits: Digits): boolean {
  if (digits === "sent") return ODD_NUMBER.test(text);
  return holdsLongNumber(text) || (EXPONENT.test(text) && LARGE_EXPONENT.test(text)) || NUMBER_ALONE.test(text);
}

/** Whether 16 digits or points stand in a row where a number may: one of every 16 characters must be one of them. */
function holdsLongNumber(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigitOrPoint(text.charCodeAt(start - 1))) start -= 1;
    while (isDigitOrPoint(text.charCodeAt(at))) at += 1;
    if (at - start < LONG) continue;
    const isNumber =
      AFTER_NUMBER.test(text.charAt(at)) && BEFORE_NUMBER.test(text.slice(Math.max(0, start - 2), start));
    if (isNumber) return true;
  }
  return false;
}

function isDigitOrPoint(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/**
 * Turns each number of a valid JSON text that would lose digits into a marked string, for {@link reviveExactNumber};
 * undefined when there is none. Throws code `LIMIT_EXCEEDED` for a number that is too long.
 */
export function markExactNumbers(text: string, digits: Digits, limits?: JsonLimits): string | undefined {
  const longest = limits?.max_number_length ?? Number.POSITIVE_INFINITY;
  const losesDigits = digits === "sent" ? losesSpelling : losesValue;
  const pieces: string[] = [];
  let copied = 0;
  QUOTE_OR_NUMBER.lastIndex = 0;
  for (let match = QUOTE_OR_NUMBER.exec(text); match !== null; match = QUOTE_OR_NUMBER.exec(text)) {
    const token = match[0];
    if (token === '"') {
      QUOTE_OR_NUMBER.lastIndex = closingQuote(text, match.index) + 1;
    } else if (token.length > longest) {
      throw limitExceeded("max_number_length", `a number has ${token.length} characters`, longest);
    } else if (losesDigits(token)) {
      pieces.push(text.slice(copied, match.index), `"${MARK_IN_JSON}${token}"`);
      copied = QUOTE_OR_NUMBER.lastIndex;
    }
  }
  return pieces.length === 0 ? undefined : pieces.join("") + text.slice(copied);
}

/** Reviver for `JSON.parse`: makes exact numbers of marked strings. */
export function reviveExactNumber(_name: string, value: unknown): unknown {
  return typeof value === "string" && value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value;
}

/** Turns the marked strings that `JSON.stringify` wrote for exact numbers into their digits. */
export function withoutMarks(json: string): string {
  return json.includes(MARK_IN_JSON) ? json.replace(MARKED_NUMBER, "$1") : json;
}

function losesSpelling(token: string): boolean {
  return String(Number(token)) !== token;
}

function losesValue(token: string): boolean {
  const parsed = Number(token);
  if (String(parsed) === token) return false;
  if (parsed === 0) return /^[^eE]*[1-9]/.test(token);
  return !Number.isFinite(parsed) || decimal(token) !== decimal(String(parsed));
}

/** One spelling for each decimal value but zero: digits without zeros at either end, and the power of ten of the last. */
function decimal(token: string): string {
  const [mantissa = "", exponent = "0"] = token.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = withoutTrailingZeros(digits);
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

// A regular expression for trailing zeros takes quadratic time on a long row of zeros that ends in another digit.
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
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

const BACKSLASH = 0x5c;
