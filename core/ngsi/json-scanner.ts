import { detached } from "./detached.js";
import type { Value } from "./model.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const MOST_GUESSES = 1000;
const MOST_WORDS = 5000;
const LONGEST_WORD = 200;
/** Longer texts are left to the general way: what is made here refers to its text, and keeps it in memory. */
const LONGEST = 65_536;
const DEEPEST = 32;
/** So many digits keep their value. */
const MOST_DIGITS = 15;
/** With so many digits behind the point, the last of them no zero, a number is written as it was sent. */
const MOST_PLAIN_FRACTION = 6;

/** Escapes, and the control characters, which JSON allows between its tokens only, or nowhere. */
const UNUSUAL = /[^ -[\]-\uffff]/;

/**
 * Reads a JSON text from front to back, as long as it is written the way brokers write it: no escapes, nothing between the
 * tokens, no name twice in an object. Each method that meets anything else answers undefined, or false; the text is then
 * to be read in the general way, which alone decides what is wrong with it.
 */
export class JsonScanner {
  /** The names of the text before, in their order: most texts of a subscription have the same. */
  readonly #guesses: string[] = [];
  /** Words that were read, by themselves: the same word is the same text in memory. */
  readonly #words = new Map<string, string>();
  #text = "";
  #at = 0;
  #turn = 0;

  /** False for a text that is surely unusual. */
  begin(text: string): boolean {
    this.#text = text;
    this.#at = 0;
    this.#turn = 0;
    return text.length <= LONGEST && text.charCodeAt(0) === BRACE && !UNUSUAL.test(text);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** Forgets the text. */
  finish(): void {
    this.#text = "";
  }

  /** Reads an object that has members, each of them by `read`. False as soon as one is unusual. */
  object<Draft>(draft: Draft, read: (draft: Draft) => boolean): boolean {
    if (!this.#takes(BRACE)) return false;
    do {
      if (!read(draft)) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSING_BRACE);
  }

  /** Reads a list, each of its elements by `read`. */
  list<Item>(read: () => Item | undefined): readonly Item[] | undefined {
    if (!this.#takes(BRACKET)) return undefined;
    const items: Item[] = [];
    if (this.#takes(CLOSING_BRACKET)) return items;
    do {
      const item = read();
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#takes(COMMA));
    return this.#takes(CLOSING_BRACKET) ? items : undefined;
  }

  /** The name of a member, and its colon. Names that begin with a digit would change their place in an object. */
  name(): string | undefined {
    const name = this.word();
    return name !== undefined && !isDigit(name.charCodeAt(0)) && this.#takes(COLON) ? name : undefined;
  }

  /** A string that is likely to stand in the same place of other texts. It does not refer to the text. */
  word(): string | undefined {
    const turn = this.#turn;
    this.#turn += 1;
    const guess = this.#guesses[turn];
    if (guess !== undefined && this.#isWord(guess)) {
      this.#at += guess.length + 2;
      return guess;
    }
    const part = this.string();
    if (part === undefined || part.length > LONGEST_WORD) return part && detached(part);
    const word = this.#known(part);
    if (turn < MOST_GUESSES) this.#guesses[turn] = word;
    return word;
  }

  /** A string, which refers to the text. */
  string(): string | undefined {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) return undefined;
    const from = this.#at + 1;
    const to = this.#text.indexOf('"', from);
    if (to === -1) return undefined;
    this.#at = to + 1;
    return this.#text.slice(from, to);
  }

  /** A value as kind and text; see {@link Value}. */
  value(): Value | undefined {
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return textOf("string", this.string());
    if (code === BRACE) return textOf("object", this.#structure());
    if (code === BRACKET) return textOf("array", this.#structure());
    if (code === MINUS || isDigit(code)) return textOf("number", this.#number());
    if (this.#takesText("true")) return { kind: "boolean", text: "true" };
    if (this.#takesText("false")) return { kind: "boolean", text: "false" };
    return this.#takesText("null") ? { kind: "null", text: "null" } : undefined;
  }

  #known(part: string): string {
    const known = this.#words.get(part);
    if (known !== undefined) return known;
    const word = detached(part);
    if (this.#words.size < MOST_WORDS) this.#words.set(word, word);
    return word;
  }

  /** The characters of an object or a list, where `JSON.stringify` would write the same. */
  #structure(): string | undefined {
    const from = this.#at;
    return this.#passes(0) ? this.#text.slice(from, this.#at) : undefined;
  }

  #passes(depth: number): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.string() !== undefined;
    if (code === BRACE) return depth < DEEPEST && this.#passesObject(depth);
    if (code === BRACKET) return depth < DEEPEST && this.#passesList(depth);
    if (code === MINUS || isDigit(code)) return this.#passesNumber();
    return this.#takesText("true") || this.#takesText("false") || this.#takesText("null");
  }

  #passesNumber(): boolean {
    const from = this.#at;
    return this.#number() === this.#text.slice(from, this.#at);
  }

  #passesObject(depth: number): boolean {
    this.#at += 1;
    if (this.#takes(CLOSING_BRACE)) return true;
    const names: string[] = [];
    do {
      const name = this.string();
      if (name === undefined || isDigit(name.charCodeAt(0)) || names.includes(name)) return false;
      names.push(name);
      if (!this.#takes(COLON) || !this.#passes(depth + 1)) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSING_BRACE);
  }

  #passesList(depth: number): boolean {
    this.#at += 1;
    if (this.#takes(CLOSING_BRACKET)) return true;
    do {
      if (!this.#passes(depth + 1)) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSING_BRACKET);
  }

  /** A number as JavaScript writes it. */
  #number(): string | undefined {
    const from = this.#at;
    if (this.#text.charCodeAt(this.#at) === MINUS) this.#at += 1;
    const whole = this.#digits();
    if (whole === 0 || (whole > 1 && this.#text.charCodeAt(this.#at - whole) === ZERO)) return undefined;
    let fraction = 0;
    if (this.#takes(POINT)) {
      fraction = this.#digits();
      if (fraction === 0) return undefined;
    }
    if (whole + fraction > MOST_DIGITS) return undefined;
    const digits = this.#text.slice(from, this.#at);
    return this.#isPlain(digits, fraction) ? digits : String(Number(digits));
  }

  #isPlain(digits: string, fraction: number): boolean {
    if (fraction === 0) return digits !== "-0";
    return fraction <= MOST_PLAIN_FRACTION && this.#text.charCodeAt(this.#at - 1) !== ZERO;
  }

  #digits(): number {
    const from = this.#at;
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#at - from;
  }

  #isWord(word: string): boolean {
    const from = this.#at + 1;
    const isFramed = this.#text.charCodeAt(this.#at) === QUOTE && this.#text.charCodeAt(from + word.length) === QUOTE;
    return isFramed && this.#text.startsWith(word, from);
  }

  #takes(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    return true;
  }

  #takesText(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

function textOf(kind: Value["kind"], text: string | undefined): Value | undefined {
  return text === undefined ? undefined : { kind, text };
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
