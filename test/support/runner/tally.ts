import { resolve } from "node:path";

/** What node:test reports when a test or a suite has ended. */
export interface TestResult {
  readonly name: string;
  readonly nesting: number;
  readonly skip?: string | boolean | undefined;
  readonly details: { readonly type?: string | undefined; readonly error?: unknown };
}

export interface FailedTest {
  readonly name: string;
  /** The beginning of the message of its error, in lines. */
  readonly reason: readonly string[];
}

export interface SkippedTest {
  readonly name: string;
  readonly reason: string;
}

/** Of the message of an error: enough for the seed and the shortest history of a property, and for two values that differ. */
const MOST = { lines: 30, characters: 400 };

/** Tells a parent from a leaf: the results of one level come after those of the level below. One for what runs beside others. */
export class Levels {
  /** By level: whether a result was seen there since the last result of the level above. */
  #seen: readonly boolean[] = [];

  /** To be asked for each result, in their order. */
  isLeaf({ nesting }: Pick<TestResult, "nesting">): boolean {
    const leaf = this.#seen[nesting + 1] !== true;
    this.#seen = [...Array.from({ length: nesting }, (_, level) => this.#seen[level] === true), true];
    return leaf;
  }
}

/** Counts the leaves of a test run: a test with subtests and a suite count only when they fail by themselves. */
export class Tally {
  passes = 0;
  readonly failures: FailedTest[] = [];
  readonly skips: SkippedTest[] = [];
  readonly #files: ReadonlySet<string>;

  constructor(files: readonly string[]) {
    this.#files = new Set(files);
  }

  /** Takes the result of a test that did not fail. */
  passed(result: TestResult, levels: Levels): void {
    if (this.#isFile(result)) {
      this.failures.push({ name: result.name, reason: ["the file holds no test"] });
      return;
    }
    const leaf = levels.isLeaf(result);
    if (result.skip !== undefined && result.skip !== false) this.skips.push(skipped(result));
    else if (leaf && result.details.type !== "suite") this.passes += 1;
  }

  /** Takes the result of a test that failed. */
  failed(result: TestResult, levels: Levels): void {
    const leaf = this.#isFile(result) || levels.isLeaf(result);
    const { name, details } = result;
    if (leaf || memberOf(details.error, "failureType") !== "subtestsFailed")
      this.failures.push({ name, reason: reasonOf(details.error) });
  }

  // A file is reported as a test of its own only when it has no test or ended badly outside of its tests.
  #isFile(result: TestResult): boolean {
    return result.nesting === 0 && this.#files.has(resolve(result.name));
  }
}

/** The last line of a run, for people and for continuous integration. */
export function closingLine({ passes, failures, skips }: Tally): string {
  return `${passes} passed, ${failures.length} failed, ${skips.length} skipped`;
}

function skipped({ name, skip }: TestResult): SkippedTest {
  return { name, reason: typeof skip === "string" && skip !== "" ? skip : "no reason given" };
}

/** The error of a test is the cause of one of node:test. */
function reasonOf(error: unknown): readonly string[] {
  const message = memberOf(memberOf(error, "cause"), "message") ?? memberOf(error, "message");
  const lines = typeof message === "string" ? message.split("\n").filter((line) => line.trim() !== "") : [];
  return lines.slice(0, MOST.lines).map((line) => line.slice(0, MOST.characters));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
