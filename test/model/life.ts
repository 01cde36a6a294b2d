/** One process of the model: when it has ended, nothing that waits for it goes on until the history is over. */
export class Life {
  readonly run: string;
  #dead = false;
  #over = false;
  readonly #ended: (() => void)[] = [];

  constructor(run: string) {
    this.run = run;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** As kill -9: from now on no sink of this process answers. */
  kill(): void {
    this.#dead = true;
  }

  /** The history is over: what waits is let go, with an error. */
  bury(): void {
    this.#dead = true;
    this.#over = true;
    for (const end of this.#ended) end();
  }

  /** To be awaited at every step of a sink; never resolves in a process that has ended. */
  async goesOn(): Promise<void> {
    if (!this.#dead) return;
    if (!this.#over) await new Promise<void>((resolve) => this.#ended.push(resolve));
    throw new Error("this process has ended");
  }
}
