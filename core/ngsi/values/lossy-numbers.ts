import { closingQuote } from "./closing-quote.js";

/**
 * Which digits of a number count. `precise`: those of its decimal value, so `23.0` is `23`. `sent`: the very characters
 * of the text, so `23.0` and `1e2` stay what they are.
 */
export type Digits = "precise" | "sent";

/**
 * Where the numbers of a JSON text begin that JavaScript would not write with the digits that count, and those with more
 * characters than `longest`, in the order of the text; {@link endOfNumber} says where each ends. Only places that look suspicious
 * are read closely. Where the text is no valid JSON, what is found means nothing.
 */
export function lossyNumbers(text: string, digits: Digits, longest: number): readonly number[] {
  // A text may hold a million of them: no object for each.
  const starts: number[] = [];
  const losesDigits = digits === "sent" ? losesSpelling : losesValue;
  visitSuspects(text, digits, (start, end) => {
    if (!mayBeValue(text, start, end)) return;
    const isLossy = end - start > longest || isLossyNumber(text.slice(start, end), losesDigits);
    if (isLossy) starts.push(start);
  });
  return starts.length === 0 ? starts : outsideStrings(text, starts);
}

/** Where the number that begins there ends. */
export function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

type Visit = (start: number, end: number) => void;

/** Visits each row of digits, points, signs and `e` that may be a lossy number, some of them twice. */
function visitSuspects(text: string, digits: Digits, visit: Visit): void {
  visitLongRows(text, visit);
  visitMatches(digits === "sent" ? ODD_ENDING : LARGE_EXPONENT, text, visit);
  if (digits === "sent") visitSmallFractions(text, visit);
  const alone = NUMBER_ALONE.exec(text);
  if (alone !== null) visitRowAt(text, alone[0].length - 1, visit);
}

// At most 15 digits with an exponent of one or two digits keep their value.
const LONG = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/g;
// What JavaScript writes differently ends like this, or is long, or a small fraction.
const ODD_ENDING = /[\d.-](?:0|[eE][+-]?\d+)(?=[,}\]\s])/g;
const SMALL_FRACTION = "0.000000";
const NUMBER_ALONE = /^\s*-?\d/;

/** Of 16 digits or points in a row, every 16th character of the text must be one. */
function visitLongRows(text: string, visit: Visit): void {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigitOrPoint(text.charCodeAt(start - 1))) start -= 1;
    while (isDigitOrPoint(text.charCodeAt(at))) at += 1;
    if (at - start >= LONG) at = visitRowAt(text, start, visit);
  }
}

function visitMatches(pattern: RegExp, text: string, visit: Visit): void {
  pattern.lastIndex = 0;
  while (pattern.test(text)) pattern.lastIndex = visitRowAt(text, pattern.lastIndex - 1, visit);
}

function visitSmallFractions(text: string, visit: Visit): void {
  for (let at = text.indexOf(SMALL_FRACTION); at !== -1; ) {
    at = text.indexOf(SMALL_FRACTION, visitRowAt(text, at, visit));
  }
}

/** Returns where the row ends. Each character is in one row only, so that all rows together take linear time. */
function visitRowAt(text: string, at: number, visit: Visit): number {
  let start = at;
  const end = endOfNumber(text, at);
  while (isOfNumber(text.charCodeAt(start - 1))) start -= 1;
  visit(start, end);
  return end;
}

function isDigitOrPoint(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

const PLUS = 0x2b;
const MINUS = 0x2d;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

function isOfNumber(code: number): boolean {
  return isDigitOrPoint(code) || code === MINUS || code === LOWER_E || code === UPPER_E || code === PLUS;
}

const BEFORE_VALUE = /[:,[\s]/;
const AFTER_VALUE = /[,}\]\s]/;
const COLON = /\s*:/y;

/** Whether what is around it allows a value: ids such as "notification:-5934503869881517956" end with a quote. */
function mayBeValue(text: string, start: number, end: number): boolean {
  if (start > 0 && !BEFORE_VALUE.test(text.charAt(start - 1))) return false;
  if (end === text.length) return true;
  if (!AFTER_VALUE.test(text.charAt(end))) return false;
  // A name is no number: as a marked string it would become one.
  COLON.lastIndex = end;
  return !COLON.test(text);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function isLossyNumber(token: string, losesDigits: (token: string) => boolean): boolean {
  return losesDigits(token) && NUMBER.test(token);
}

function losesSpelling(token: string): boolean {
  return String(Number(token)) !== token;
}

// Without an exponent, and without a last zero behind the point: two such texts are equal if their values are.
const PLAIN = /^-?\d+(?:\.\d*[1-9])?$/;

function losesValue(token: string): boolean {
  const parsed = Number(token);
  const written = String(parsed);
  if (written === token) return false;
  if (parsed === 0) return /^[^eE]*[1-9]/.test(token);
  if (!Number.isFinite(parsed) || (PLAIN.test(token) && PLAIN.test(written))) return true;
  return decimal(token) !== decimal(written);
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

/** Those that are not within a string, each once, in the order of the text. The list is changed. */
function outsideStrings(text: string, starts: number[]): readonly number[] {
  let kept = 0;
  let quote = text.indexOf('"');
  let read = 0;
  for (const start of starts.sort((one, other) => one - other)) {
    while (quote !== -1 && quote < start) {
      read = closingQuote(text, quote) + 1;
      quote = text.indexOf('"', read);
    }
    if (start < read) continue;
    starts[kept] = start;
    kept += 1;
    read = endOfNumber(text, start);
  }
  starts.length = kept;
  return starts;
}
