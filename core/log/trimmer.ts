import { pause } from "../sdk/index.js";
import type { Members } from "./members.js";
import type { OwnPart } from "./own-parts.js";
import type { LogPart, PartitionedLog } from "./partitioned-log.js";

const PAUSE_MILLIS = 10_000;

interface TrimmerParts {
  readonly log: Pick<PartitionedLog, "trim">;
  /** The group of this agent. */
  readonly group: string;
  readonly members: Pick<Members, "groups">;
  readonly own: ReadonlyMap<number, OwnPart>;
  outcome(error?: unknown): void;
}

/** Removes from the parts of this agent what every group has done. */
export class Trimmer {
  readonly #parts: TrimmerParts;
  readonly #stopping = new AbortController();
  readonly #trimmed = new Map<number, number>();
  #running: Promise<void> | undefined;

  constructor(parts: TrimmerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** The last record that something is done of stays. */
  async trim(): Promise<void> {
    const before = new Map<LogPart, number>();
    for (const [part, { queue }] of this.#parts.own) {
      const offset = Math.min(queue.done.offset, this.#heard(part));
      if (offset > (this.#trimmed.get(part) ?? 0)) before.set(part, offset);
    }
    if (before.size === 0) return;
    await this.#parts.log.trim(before, this.#stopping.signal);
    for (const [part, offset] of before) if (typeof part === "number") this.#trimmed.set(part, offset);
  }

  /** How far all groups have reported the part to be done: who takes it over must know that what is gone was stored. */
  #heard(part: number): number {
    const { group, members } = this.#parts;
    if (!members.groups.has(group)) return 0;
    return Math.min(...[...members.groups.values()].map((done) => done.get(part)?.offset ?? 0));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(PAUSE_MILLIS, signal);
      if (signal.aborted) return;
      try {
        await this.trim();
        this.#parts.outcome();
      } catch (error) {
        this.#parts.outcome(error);
      }
    }
  }
}
