import { relative, resolve, sep } from "node:path";

/** What node:test reports when the process of a test file, or a test in it, has ended. */
export interface Completion {
  readonly name: string;
  readonly nesting: number;
  readonly details: { readonly duration_ms: number };
}

/** Which test files took longest, from the start of their process to its end. */
export class SlowestFiles {
  readonly #folder: string;
  readonly #files: ReadonlySet<string>;
  readonly #seconds = new Map<string, number>();

  /** Files are named as seen from the folder. */
  constructor(folder: string, files: readonly string[]) {
    this.#folder = folder;
    this.#files = new Set(files);
  }

  completed({ name, nesting, details }: Completion): void {
    const file = resolve(name);
    if (nesting === 0 && this.#files.has(file)) this.#seconds.set(file, details.duration_ms / 1000);
  }

  /** The slowest first, each with its seconds. */
  lines(most: number): readonly string[] {
    return [...this.#seconds]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, most)
      .map(([file, seconds]) => `${seconds.toFixed(1)} s ${this.#nameOf(file)}`);
  }

  #nameOf(file: string): string {
    return relative(this.#folder, file)
      .split(sep)
      .join("/")
      .replace(/\.test\.js$/, "");
  }
}
