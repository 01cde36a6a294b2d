import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";

interface Watched {
  /** Further files. */
  readonly files: readonly string[];
  /** Whether the folder holds TypeScript: then what is built of it is not watched. */
  readonly isTyped: boolean;
}

/** Time and size of every file, as one text. */
type State = string;

const pauseMilliseconds = 300;
const deepest = 8;
const mostFiles = 5000;

/**
 * Sees when a source of a folder changes. It compares times and sizes: what the system offers for whole folders differs
 * from one platform to the next and follows node_modules.
 */
export class SourceWatch {
  readonly #folder: string;
  readonly #watched: Watched;

  constructor(folder: string, watched: Watched) {
    this.#folder = folder;
    this.#watched = watched;
  }

  async state(): Promise<State> {
    const found: string[] = [...this.#watched.files];
    await this.#collect(this.#folder, 0, found);
    const lines = await Promise.all(found.map(lineOf));
    return lines.toSorted().join("\n");
  }

  /** Resolves when the state is another one and has stayed the same for a moment, or when the signal aborts. */
  async changeFrom(state: State, signal: AbortSignal): Promise<void> {
    let last = state;
    while (!signal.aborted) {
      await setTimeout(pauseMilliseconds, undefined, { signal }).catch(() => undefined);
      const now = await this.state();
      if (now !== state && now === last) return;
      last = now;
    }
  }

  async #collect(folder: string, depth: number, found: string[]): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (found.length >= mostFiles) return;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && depth < deepest && this.#isSearched(entry.name)) {
        await this.#collect(file, depth + 1, found);
      } else if (entry.isFile() && this.#isSource(entry.name)) found.push(file);
    }
  }

  #isSearched(name: string): boolean {
    if (name.startsWith(".") || name === "node_modules") return false;
    return !(this.#watched.isTyped && name === "dist");
  }

  #isSource(name: string): boolean {
    if (name === "package.json" || name === "tsconfig.json") return true;
    return (this.#watched.isTyped ? /\.[cm]?tsx?$/ : /\.[cm]?js$/).test(name);
  }
}

async function lineOf(file: string): Promise<string> {
  return await stat(file).then(
    ({ mtimeMs, size }) => `${file} ${mtimeMs} ${size}`,
    () => `${file} -`,
  );
}
