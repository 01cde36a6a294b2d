import { randomUUID } from "node:crypto";

/** Where the last group of a UUID begins. */
const LAST_GROUP = 24;
const LAST_GROUP_DIGITS = 12;

/** Ids of requests: UUIDs that differ in their last group, which counts. Random ones throughout take twice as long. */
export class TransactionIds {
  readonly #prefix = randomUUID().slice(0, LAST_GROUP);
  #last = 0;

  next(): string {
    this.#last += 1;
    return this.#prefix + this.#last.toString(16).padStart(LAST_GROUP_DIGITS, "0");
  }
}
