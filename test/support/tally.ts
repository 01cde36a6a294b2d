import { resolve } from "node:path";

/** What node:test reports when a test or a suite has ended. */
export interface TestResult {
  readonly name: string;
  readonly nesting: number;
  readonly skip?: string | boolean | undefined;
  readonly details: { readonly type?: string | undefined; readonly error?: unknown };
}

export interface SkippedTest {
  readonly name: string;
  readonly reason: string;
}

/**
 * Counts the leaves of a test run: a test with subtests and a suite count only when they fail by themselves. The
 * results of one level come after those of the level below, which is what tells a parent from a leaf.
 */
export class Tally {
  passes = 0;
  readonly failures: string[] = [];
  readonly skips: SkippedTest[] = [];
  readonly #files: ReadonlySet<string>;
  /** By level: whether a result was seen there since the last result of the level above. */
  #seen: readonly boolean[] = [];

  constructor(files: readonly string[]) {
    this.#files = new Set(files);
  }

  /** Takes the result of a test that did not fail. */
  passed(result: TestResult): void {
    if (this.#isFile(result)) {
      this.failures.push(`${result.name} (the file holds no test)`);
      return;
    }
    const leaf = this.#isLeaf(result);
    if (result.skip !== undefined && result.skip !== false) this.skips.push(skipped(result));
    else if (leaf && result.details.type !== "suite") this.passes += 1;
  }

  /** Takes the result of a test that failed. */
  failed(result: TestResult): void {
    const leaf = this.#isFile(result) || this.#isLeaf(result);
    if (leaf || failureType(result.details.error) !== "subtestsFailed") this.failures.push(result.name);
  }

  // A file is reported as a test of its own only when it has no test or ended badly outside of its tests.
  #isFile(result: TestResult): boolean {
    return result.nesting === 0 && this.#files.has(resolve(result.name));
  }

  #isLeaf({ nesting }: TestResult): boolean {
    const leaf = this.#seen[nesting + 1] !== true;
    this.#seen = [...Array.from({ length: nesting }, (_, level) => this.#seen[level] === true), true];
    return leaf;
  }
}

/** The last line of a run, for people and for continuous integration. */
export function closingLine({ passes, failures, skips }: Tally): string {
  return `${passes} passed, ${failures.length} failed, ${skips.length} skipped`;
}

function skipped({ name, skip }: TestResult): SkippedTest {
  return { name, reason: typeof skip === "string" && skip !== "" ? skip : "no reason given" };
}

function failureType(error: unknown): unknown {
  return typeof error === "object" && error !== null && "failureType" in error ? error.failureType : undefined;
}
