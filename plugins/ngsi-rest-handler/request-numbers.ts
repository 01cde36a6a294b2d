import { randomUUID } from "node:crypto";

const MICROS = 1000;

/** Numbers that grow: microseconds since 1970 of the reception time, or one more than the last where that is higher. */
export class Sequence {
  #last = 0;

  next(receivedAt: Date): number {
    this.#last = Math.max(this.#last + 1, (receivedAt.getTime() || 0) * MICROS);
    return this.#last;
  }
}

/** Texts of numbers that stay the same for a while: the text of a large number takes longer to make than most else of a request. */
export class LastText {
  #number = Number.NaN;
  #text = "";

  of(number: number): string {
    if (number !== this.#number) {
      this.#number = number;
      this.#text = String(number);
    }
    return this.#text;
  }

  /** Likewise for numbers of which all but the last three digits stay the same. */
  ofGrowing(number: number): string {
    const thousands = Math.floor(number / LAST_DIGITS.length);
    const last = thousands > 0 ? LAST_DIGITS[number - thousands * LAST_DIGITS.length] : undefined;
    return last === undefined ? String(number) : this.of(thousands) + last;
  }
}

const LAST_DIGITS = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, "0"));

/** Where the last group of a UUID begins. */
const LAST_GROUP = 24;
/** Of the twelve digits of the last group. */
const FIRST_DIGITS = 100;
/** Nine digits, as all that follow: V8 makes the text of such a number much faster than that of one of twelve. */
const FIRST_ID = 100_000_000;
const LAST_ID = 999_999_999;

/** Ids of requests: UUIDs that differ in their last group, which counts. Random ones throughout take twice as long. */
export class TransactionIds {
  #prefix = newPrefix();
  #last = FIRST_ID;

  next(): string {
    if (this.#last === LAST_ID) {
      this.#prefix = newPrefix();
      this.#last = FIRST_ID;
    }
    this.#last += 1;
    return this.#prefix + String(this.#last);
  }
}

function newPrefix(): string {
  return `${randomUUID().slice(0, LAST_GROUP)}${FIRST_DIGITS}`;
}
