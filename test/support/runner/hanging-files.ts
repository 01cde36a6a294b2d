import { resolve } from "node:path";

/** What node:test reports when a test, or the process of a test file, begins or has ended. */
interface Seen {
  readonly name: string;
  readonly nesting: number;
}

interface Asking {
  /** How long a file may take before it is asked about. */
  readonly afterMillis: number;
  readonly signs: (file: string) => Promise<readonly string[]>;
}

/** The test files of a run that have not ended after a time, with what was to be seen of them then. */
export class HangingFiles {
  readonly #files: ReadonlySet<string>;
  readonly #asking: Asking;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #lines: string[] = [];

  constructor(files: readonly string[], asking: Asking) {
    this.#files = new Set(files);
    this.#asking = asking;
  }

  started(seen: Seen): void {
    const file = this.#fileOf(seen);
    if (file === undefined) return;
    const { afterMillis, signs } = this.#asking;
    const ask = async () => {
      const found = await signs(file);
      this.#lines.push(file, ...found.map((line) => `    ${line}`));
    };
    this.#timers.set(file, setTimeout(() => void ask(), afterMillis).unref());
  }

  completed(seen: Seen): void {
    clearTimeout(this.#timers.get(this.#fileOf(seen) ?? ""));
  }

  /** The path of each file, followed by what was to be seen of it. */
  lines(): readonly string[] {
    return this.#lines;
  }

  #fileOf({ name, nesting }: Seen): string | undefined {
    const file = resolve(name);
    return nesting === 0 && this.#files.has(file) ? file : undefined;
  }
}
