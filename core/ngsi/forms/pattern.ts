import type { Leaf } from "./leaves.js";
import { piecesOf } from "./marks.js";

/** What the regular expression of a pattern captures, by the numbers of the groups. */
export type Found = readonly (string | undefined)[];

/** A part of the text that is captured. */
export interface Group {
  readonly group: number;
  /** The numbers in that part: they are not checked. */
  readonly numbers: readonly number[];
}

/** Leaves from the first to the last with all that is between and around them, at these places of the text. */
interface Whole {
  readonly start: number;
  readonly end: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Matches the texts that differ from one text in their leaves only, and captures what is made of them. Lists and objects that
 * stand in the text as they are to be made are captured as a whole.
 */
export class Pattern {
  readonly expression: RegExp;
  /** By the number of the leaf that it is or begins with. */
  readonly #groups = new Map<number, Group>();
  readonly #wholes = new Map<number, Whole>();
  readonly #wanted = new Set<number>();
  /** Groups of the leaves that nothing is made of, numbers and texts. */
  readonly strays: { readonly numbers: number[]; readonly texts: number[] } = { numbers: [], texts: [] };
  #count = 0;

  /** `made`: marked texts of all that is made of the leaves. */
  constructor(text: string, leaves: readonly Leaf[], made: readonly string[]) {
    for (const marked of made) {
      const pieces = piecesOf(marked);
      const whole = wholeOf(text, leaves, pieces);
      if (whole !== undefined) this.#wholes.set(whole.first, whole);
      else for (const piece of pieces) if (typeof piece === "number") this.#wanted.add(piece);
    }
    this.expression = new RegExp(`^${this.#source(text, leaves)}$`);
  }

  /** The pieces of a marked text that was given to the constructor: constant ones, and what is captured. Throws for a leaf that two texts need otherwise. */
  piecesOf(marked: string): readonly (string | Group)[] {
    const pieces = piecesOf(marked);
    const first = pieces.find((piece) => typeof piece === "number");
    const whole = first === undefined ? undefined : this.#wholes.get(first);
    const kept = whole === undefined ? pieces : [whole.first];
    return kept.map((piece) => (typeof piece === "number" ? this.#groupOf(piece) : piece));
  }

  #groupOf(leaf: number): Group {
    const group = this.#groups.get(leaf);
    if (group === undefined) throw new Error(`leaf ${leaf} is in a list or object that is captured as a whole`);
    return group;
  }

  #source(text: string, leaves: readonly Leaf[]): string {
    let source = "";
    let end = 0;
    for (let at = 0; at < leaves.length; at += 1) {
      const whole = this.#wholes.get(at);
      const start = whole?.start ?? leaves[at]?.start ?? end;
      source += escaped(text.slice(end, start));
      source += whole === undefined ? this.#leaf(at, leaves[at]) : this.#whole(whole, text, leaves);
      end = whole?.end ?? leaves[at]?.end ?? end;
      at = whole?.last ?? at;
    }
    return source + escaped(text.slice(end));
  }

  #leaf(at: number, leaf: Leaf | undefined): string {
    const isWanted = this.#wanted.has(at);
    const isNumber = leaf?.isNumber === true;
    this.#count += 1;
    if (isWanted) this.#groups.set(at, { group: this.#count, numbers: isNumber ? [this.#count] : [] });
    else this.strays[isNumber ? "numbers" : "texts"].push(this.#count);
    return `(${isNumber ? A_NUMBER : A_TEXT})`;
  }

  #whole({ start, end, first, last }: Whole, text: string, leaves: readonly Leaf[]): string {
    this.#count += 1;
    const numbers: number[] = [];
    this.#groups.set(first, { group: this.#count, numbers });
    let source = "";
    let from = start;
    for (const leaf of leaves.slice(first, last + 1)) {
      source += escaped(text.slice(from, leaf.start)) + (leaf.isNumber ? `(${A_NUMBER})` : A_TEXT);
      from = leaf.end;
      if (!leaf.isNumber) continue;
      this.#count += 1;
      numbers.push(this.#count);
    }
    return `(${source}${escaped(text.slice(from, end))})`;
  }
}

/** Where the pieces stand in the text one behind the other; undefined for a leaf alone, and if the text has them otherwise. */
function wholeOf(text: string, leaves: readonly Leaf[], pieces: readonly (string | number)[]): Whole | undefined {
  if (pieces.length < 2) return undefined;
  const numbers = pieces.filter((piece) => typeof piece === "number");
  const [first = 0] = numbers;
  const last = numbers.at(-1) ?? first;
  const [before = ""] = pieces;
  const start = (leaves[first]?.start ?? 0) - (typeof before === "string" ? before.length : 0);
  let end = start;
  for (const piece of pieces) {
    const leaf = typeof piece === "number" ? leaves[piece] : undefined;
    if (leaf === undefined ? !text.startsWith(String(piece), end) : leaf.start !== end) return undefined;
    end = leaf === undefined ? end + String(piece).length : leaf.end;
  }
  return { start, end, first, last };
}

/** Characters that need no escape; half of a surrogate pair would. */
const A_TEXT = String.raw`[^"\\\x00-\x1f\ud800-\udfff]+`;
/** All characters of numbers: an expression for nothing but numbers takes ten times the memory, and many times as long to compile. */
const A_NUMBER = String.raw`[-+.\deE]+`;

function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
