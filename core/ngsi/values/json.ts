import { AgentError } from "../../sdk/index.js";
import { type JsonLimits, limitExceeded, tooMuchHeap } from "../limits.js";
import type { Attribute, Value } from "../model.js";
import { ExactNumber, type Parsed, withExactNumbers, withMarks, withoutMarks } from "./exact-number.js";
import { heapCost } from "./heap-cost.js";
import { JoinedPieces } from "./joined-pieces.js";
import { type Digits, endOfNumber, lossyNumbers } from "./lossy-numbers.js";

/** What a JSON text holds. Numbers that a JavaScript number cannot hold keep their digits. @stable */
export type Json = string | number | boolean | null | ExactNumber | readonly Json[] | JsonObject;

/** A JSON object. `__proto__` and `constructor` are names like any other. */
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Most levels of nesting of any JSON text: what is read here is walked through by recursion. */
export const DEEPEST = 512;

const HIGH = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}`;
const LOW = String.raw`\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
// Half of a surrogate pair, and what may hide one: two backslashes before what looks like one.
const HALF = new RegExp(String.raw`\\\\u[dD]|${HIGH}(?!${LOW})|${LOW}(?<!${HIGH}${LOW})`);
// Each escape of a text: a surrogate pair, half of one, or the beginning of any other.
const ESCAPES = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/gs;

/**
 * Reads a JSON text that was decoded from UTF-8. The last of several members of the same name counts, a byte order mark
 * is skipped, and half of a surrogate pair, which no database stores as text, becomes U+FFFD. Throws code `MALFORMED_JSON`
 * when the text is no JSON or is nested deeper than 512 levels; code `LIMIT_EXCEEDED` when it exceeds the limits, and
 * `CONTENT_TOO_LARGE` when reading it would take more heap than they allow. Numbers keep their precise value, or their digits as sent.
 * @stable
 */
export function parseJson(text: string, digits: Digits = "precise", limits?: JsonLimits): Json {
  const document = documentOf(text);
  checkDepth(document, limits);
  const longest = limits?.max_number_length ?? Number.POSITIVE_INFINITY;
  const lossy = lossyNumbers(document, digits, longest);
  checkHeap(document, lossy.length, limits);
  if (lossy.length === 0) return parsed(document);
  const tooLong = lossy.find((start) => endOfNumber(document, start) - start > longest);
  if (tooLong === undefined) return withExactNumbers(parsed(withMarks(document, lossy), document));
  parsed(document);
  const characters = endOfNumber(document, tooLong) - tooLong;
  throw limitExceeded("max_number_length", `a number has ${characters} characters`, longest);
}

/** Whether {@link parseJson} makes something else of a text with the digits as sent than with precise ones. */
export function isSpelledOtherwise(text: string): boolean {
  return lossyNumbers(documentOf(text), "sent", Number.POSITIVE_INFINITY).length > 0;
}

/** The value as kind and text; see {@link Value}. @stable */
export function toValue(json: Json): Value {
  if (json === null) return { kind: "null", text: "null" };
  if (typeof json === "string") return { kind: "string", text: json };
  if (typeof json === "number") return { kind: "number", text: String(json) };
  if (typeof json === "boolean") return { kind: "boolean", text: String(json) };
  if (json instanceof ExactNumber) return { kind: "number", text: json.digits };
  return { kind: isArray(json) ? "array" : "object", text: withoutMarks(JSON.stringify(json)) };
}

/**
 * An attribute as a notification in the normalized form gives a `Property`, for what makes entities or adds to them. A number
 * that JSON does not have, such as NaN, becomes null.
 * @beta
 */
export function propertyOf(name: string, value: Json): Attribute {
  const isNoJson = typeof value === "number" && !Number.isFinite(value);
  return { name, type: "Property", form: "normalized", value: toValue(isNoJson ? null : value), members: [] };
}

/** Whether the value is a JSON object, which an array and a number are not. */
export function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof ExactNumber);
}

/** Whether the value is a JSON array. */
export function isArray(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

function checkDepth(document: string, limits: JsonLimits | undefined): void {
  const deepest = limits?.max_depth ?? DEEPEST;
  if (!isNestedDeeperThan(deepest, document)) return;
  if (limits === undefined) throw malformed(`it is nested deeper than ${DEEPEST} levels`);
  throw limitExceeded("max_depth", `it is nested ${deepest + 1} levels deep or deeper`, deepest);
}

/** A shorter text is read whatever it holds. */
const SHORT = 65_536;

function checkHeap(document: string, exactNumbers: number, limits: JsonLimits | undefined): void {
  const room = limits?.heap ?? Number.POSITIVE_INFINITY;
  if (document.length < SHORT || room === Number.POSITIVE_INFINITY) return;
  const cost = heapCost(document, exactNumbers);
  if (cost > room) throw tooMuchHeap(cost, room);
}

/** The error of a text with marks is that of the text it was made of. */
function parsed(text: string, original = text): Parsed {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (original !== text) return parsed(original);
    // The message of the platform quotes some twenty characters of the text, never more.
    throw malformed(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function malformed(reason: string, cause?: unknown): AgentError {
  return new AgentError("MALFORMED_JSON", `parsing the body as JSON: ${reason}`, { cause, retryable: false });
}

function documentOf(text: string): string {
  return withWholePairs(text.startsWith("\ufeff") ? text.slice(1) : text);
}

/** As encoders of UTF-8 do, with the character that stands for what cannot be decoded. */
function withWholePairs(document: string): string {
  if (!document.includes("\\u") || !HALF.test(document)) return document;
  const joined = new JoinedPieces();
  let copied = 0;
  for (const { 1: half, index } of document.matchAll(ESCAPES)) {
    if (half === undefined) continue;
    joined.add(document.slice(copied, index), "\\ufffd");
    copied = index + "\\ufffd".length;
  }
  return joined.text() + document.slice(copied);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;

/** Whether a JSON text nests objects and arrays deeper than the given levels. Checks brackets only: it need not be valid. */
export function isNestedDeeperThan(levels: number, text: string): boolean {
  const braces = count("{", text, levels);
  if (braces <= levels && braces + count("[", text, levels) <= levels) return false;
  // Bytes are read twice as fast as the characters of a text.
  const bytes = Buffer.from(text);
  let depth = 0;
  for (let at = 0; at < bytes.length && depth <= levels; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) at = closingQuote(bytes, at);
    else if (code === BRACKET || code === BRACE) depth += 1;
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return depth > levels;
}

/** Where the string that starts with the quote at `start` ends; the end of the bytes when nothing closes it. */
function closingQuote(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** How often a character is in the text; counting ends above `most`. Faster than reading every character. */
function count(character: string, text: string, most: number): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1 && found <= most; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}
