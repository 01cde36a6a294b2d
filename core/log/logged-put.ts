/** How far what was put at once has come, of which some may go to other parts of a log than the rest. */
export class LoggedPut {
  /** Records that were not found to be missing in the log, those on their way included. */
  #begun = 0;
  /** Of these, records that are in the log, or may be. */
  #logged = 0;
  #refusal: { readonly error: unknown } | undefined;

  /** False while nothing of it can be in the log: then it can be refused as a whole. */
  get isBegun(): boolean {
    return this.#begun > 0;
  }

  /** True when some of it is in the log, or may be. */
  get isLogged(): boolean {
    return this.#logged > 0;
  }

  /** Why it was refused before any of it was in the log; the rest is not to be appended then. */
  get refusal(): { readonly error: unknown } | undefined {
    return this.#refusal;
  }

  /** A record of it is on its way. */
  begins(): void {
    this.#begun += 1;
  }

  /** A record that is on its way is in the log, or may be. */
  logs(): void {
    this.#logged += 1;
  }

  /** A record that was on its way is not in the log. */
  fails(): void {
    this.#begun -= 1;
  }

  /** Its caller gets this error, unless some of it is on its way or there. */
  refuse(error: unknown): void {
    if (!this.isBegun) this.#refusal ??= { error };
  }
}
