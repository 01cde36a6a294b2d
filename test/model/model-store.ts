/** What a store does at one write. */
export type Mood =
  | "works"
  /** Refuses before anything is written. */
  | "refuses"
  /** Refuses with an error that does not say whether it passes. */
  | "odd"
  /** Writes, and the answer is lost. */
  | "loses the answer"
  /** The answer is an error, and the write is committed when somebody asks next, or never. */
  | "commits later"
  | "never commits"
  /** Does not answer until its signal aborts, or until the store is well again; it commits when somebody asks next, or not. */
  | "hangs and commits"
  | "hangs";

export interface Standing {
  readonly position: string;
  readonly owner: string;
}

export interface Row {
  readonly id: number;
  /** Undefined for an event that is no replayed letter. */
  readonly letter: string | undefined;
}

/** The rows of one transaction, and the position that moves with them. */
export interface Write {
  readonly sink: string;
  readonly rows: readonly Row[];
  readonly move:
    | { readonly channel: string; readonly known: Standing | undefined; readonly next: Standing }
    | undefined;
}

/** A database with transactions, and what befalls it. */
export class ModelStore {
  readonly rows: Row[] = [];
  reachable = true;
  /** Whether events that it refuses for good are taken now. */
  takesPoison = false;
  /** Does with the next commit what it likes. */
  atCommit: (() => void) | undefined;
  readonly #positions = new Map<string, Standing>();
  readonly #letters = new Set<string>();
  readonly #moods: Mood[] = [];
  #isWell = true;
  #late: Write[] = [];
  readonly #held: (() => void)[] = [];

  /** What the next writes do; those after them work. */
  script(moods: readonly Mood[]): void {
    this.#isWell = false;
    this.#moods.push(...moods);
  }

  nextMood(): Mood {
    return this.#moods.shift() ?? "works";
  }

  /** From now on everything works. */
  heal(): void {
    this.reachable = true;
    this.#isWell = true;
    this.#moods.length = 0;
    for (const release of this.#held.splice(0)) release();
    this.#settle();
  }

  /** Waits until the store is well again, or the signal aborts. */
  async hold(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isWell) return;
    await new Promise<void>((resolve) => {
      this.#held.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** The positions of a channel, by sink, when every write that is still under way has ended. */
  positionsOf(channel: string): ReadonlyMap<string, Standing> {
    this.#settle();
    const own = [...this.#positions].filter(([key]) => key.startsWith(`${channel}\0`));
    return new Map(own.map(([key, standing]) => [key.slice(channel.length + 1), standing]));
  }

  /** Of a sink, with the name of the channel. */
  positionsKeptBy(sink: string): ReadonlyMap<string, Standing> {
    this.#settle();
    const own = [...this.#positions].filter(([key]) => key.endsWith(`\0${sink}`));
    return new Map(own.map(([key, standing]) => [key.slice(0, -sink.length - 1), standing]));
  }

  hasLetter(letter: string): boolean {
    this.#settle();
    return this.#letters.has(letter);
  }

  /** What an operator does who decides for one of two agents. */
  forgetPositions(): void {
    this.#settle();
    this.#positions.clear();
  }

  later(write: Write): void {
    this.#late.push(write);
  }

  /** All of it or nothing; false when the position is not where it was known to be. */
  commit({ sink, rows, move }: Write): boolean {
    if (move !== undefined) {
      const key = `${move.channel}\0${sink}`;
      const found = this.#positions.get(key);
      if (found?.position !== move.known?.position || found?.owner !== move.known?.owner) return false;
      this.#positions.set(key, move.next);
    }
    this.rows.push(...rows);
    for (const { letter } of rows) if (letter !== undefined) this.#letters.add(letter);
    const hook = this.atCommit;
    this.atCommit = undefined;
    hook?.();
    return true;
  }

  #settle(): void {
    const late = this.#late;
    this.#late = [];
    for (const write of late) this.commit(write);
  }
}
