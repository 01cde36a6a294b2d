/** Lets emits in, unless they are held. */
export class HeldEmits {
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  get waiting(): number {
    return this.#waiting.length;
  }

  async entered(): Promise<void> {
    if (this.#isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  hold(): () => void {
    this.#isHeld = true;
    return () => {
      this.#isHeld = false;
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
  }
}
