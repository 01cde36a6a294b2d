import { closingQuote } from "./closing-quote.js";

/** Measured, in bytes: of a member of an object, which may become an attribute and its text in a channel. */
const MEMBER = 240;
/** Of an object or a list, with the members that each attribute has. */
const CONTAINER = 96;
/** Of an element of a list, beside what it holds. */
const ELEMENT = 16;
/** Of a number whose digits are kept. */
const EXACT_NUMBER = 160;
/** Of a character, in the text and in what is read of it. */
const CHARACTER = 2;

/**
 * About how many bytes of heap it takes at most to read a notification and to hand its entities to a channel. Text in strings may
 * hold anything; the text need not be valid JSON.
 */
export function heapCost(text: string, exactNumbers: number): number {
  let members = 0;
  let containers = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === COLON) members += isUsual(text, at) ? 0 : 1;
    else if (code === COMMA) commas += 1;
    else if (code === BRACE || code === BRACKET) containers += 1;
  }
  const values = members * MEMBER + containers * CONTAINER + commas * ELEMENT;
  return values + exactNumbers * EXACT_NUMBER + text.length * CHARACTER;
}

/** Names that an object has once each, and that make nothing but a value of it. */
const usual = ['"type"', '"value"', '"name"', '"metadata"'];

/** Whether a name ends there that costs nothing beside its object. */
function isUsual(text: string, end: number): boolean {
  return usual.some((name) => text.startsWith(name, end - name.length));
}

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
