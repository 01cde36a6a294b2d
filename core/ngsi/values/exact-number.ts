import { JoinedPieces } from "./joined-pieces.js";
import { endOfNumber } from "./lossy-numbers.js";

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
const MARK_CODE = 0xd800;
const MARK_IN_JSON = "\\ud800";
const MARKED_IN_JSON = `"${MARK_IN_JSON}`;

/** The JSON text with the numbers that begin there as marked strings, of which {@link withExactNumbers} makes numbers. */
export function withMarks(text: string, starts: readonly number[]): string {
  const joined = new JoinedPieces();
  let copied = 0;
  for (const start of starts) {
    const end = endOfNumber(text, start);
    joined.add(text.slice(copied, start), `"${MARK_IN_JSON}${text.slice(start, end)}"`);
    copied = end;
  }
  return joined.text() + text.slice(copied);
}

/** What `JSON.parse` makes of a text, which may be changed. */
export type Parsed = string | number | boolean | null | ExactNumber | Parsed[] | { [name: string]: Parsed };

/**
 * The parsed JSON with an exact number in the place of each marked string. It is changed in place: a reviver of
 * `JSON.parse` takes ten times as long.
 */
export function withExactNumbers(json: Parsed): Parsed {
  if (typeof json === "string") return isMarked(json) ? new ExactNumber(json.slice(1)) : json;
  if (typeof json !== "object" || json === null || json instanceof ExactNumber) return json;
  if (Array.isArray(json)) {
    for (let index = 0; index < json.length; index += 1) json[index] = withExactNumbers(json[index] ?? null);
    return json;
  }
  for (const name in json) {
    const member = json[name] ?? null;
    const exact = withExactNumbers(member);
    if (exact !== member) json[name] = exact;
  }
  return json;
}

/** A character such as U+10000 begins with the same half of a pair, but has the other half. */
function isMarked(text: string): boolean {
  return text.charCodeAt(0) === MARK_CODE && text.charCodeAt(1) < 0x80;
}

/** Turns the marked strings that `JSON.stringify` wrote for exact numbers into their digits. */
export function withoutMarks(json: string): string {
  let at = json.indexOf(MARKED_IN_JSON);
  if (at === -1) return json;
  const joined = new JoinedPieces();
  let copied = 0;
  for (; at !== -1; at = json.indexOf(MARKED_IN_JSON, copied)) {
    const digits = at + MARKED_IN_JSON.length;
    const end = json.indexOf('"', digits);
    joined.add(json.slice(copied, at), json.slice(digits, end));
    copied = end + 1;
  }
  return joined.text() + json.slice(copied);
}
