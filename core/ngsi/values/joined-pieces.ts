/** Pieces that are joined at a time: a list of all those of a large text takes many times its memory. */
const PIECES = 4096;

/** The pieces of a text that is made of many. */
export class JoinedPieces {
  readonly #joined: string[] = [];
  #pieces: string[] = [];

  add(one: string, next: string): void {
    this.#pieces.push(one, next);
    if (this.#pieces.length >= PIECES) this.#join();
  }

  text(): string {
    this.#join();
    return this.#joined.join("");
  }

  #join(): void {
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}
