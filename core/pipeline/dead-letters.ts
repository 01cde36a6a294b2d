import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { AgentError, type Event } from "../sdk/index.js";

/** Why an event was given up: this data will never go in, or the retries are used up. */
export type DeadLetterReason = "permanent" | "retries-exhausted";

/** One event that a sink could not store. */
export interface DeadLetter {
  readonly time: string;
  readonly sink: string;
  readonly reason: DeadLetterReason;
  readonly code?: string;
  readonly message: string;
  /** Calls of the sink that included this event. */
  readonly attempts: number;
  readonly event: Event;
}

/** Keeps what cannot be stored: one file of JSON lines for each sink, `<folder>/<sink>.ndjson`, synced before it counts. */
export class DeadLetters {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  fileOf(sink: string): string {
    return path.join(this.#folder, `${encodeURIComponent(sink)}.ndjson`);
  }

  async keep(letters: readonly DeadLetter[]): Promise<void> {
    const [first] = letters;
    if (first === undefined) return;
    const file = this.fileOf(first.sink);
    try {
      await mkdir(this.#folder, { recursive: true });
      await append(file, letters.map((letter) => `${JSON.stringify(letter)}\n`).join(""));
    } catch (cause) {
      throw new AgentError("DEAD_LETTERS_UNWRITABLE", `writing dead letters to "${file}"`, { cause, retryable: true });
    }
  }
}

async function append(file: string, text: string): Promise<void> {
  const handle = await open(file, "a");
  try {
    await handle.appendFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
