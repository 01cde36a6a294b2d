import {
  AgentError,
  type Batch,
  type Event,
  letterHeader,
  type Receipt,
  type Sink,
  type SinkPositions,
} from "../../core/sdk/index.js";
import { away } from "../support/keeping-sink.js";
import type { Life } from "./life.js";
import type { ModelStore, Mood, Standing, Write } from "./model-store.js";

/** Events that no store takes have it. */
export const poisonHeader = "poison";

/** A sink as the contract describes it: rows, position and letters in one transaction, moved by compare-and-set. */
export class ModelSink implements Sink {
  readonly #name: string;
  readonly #store: ModelStore;
  readonly #life: Life;
  /** Of this sink, by channel, as read first or written last. */
  readonly #known = new Map<string, Standing | undefined>();
  /** Whether a write failed since the positions were read: until then the kernel alone leaves out what is stored. */
  #inDoubt = true;
  /** Of all sinks, by channel, as read after a write that failed. */
  readonly #kept = new Map<string, readonly string[]>();

  constructor(name: string, store: ModelStore, life: Life) {
    this.#name = name;
    this.#store = store;
    this.#life = life;
  }

  async start(): Promise<void> {
    await this.#life.goesOn();
  }

  async stop(): Promise<void> {}

  async persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    try {
      await this.#write(batch, signal);
      return { requestBytes: 0, responseBytes: 0 };
    } catch (error) {
      this.#kept.clear();
      this.#inDoubt = true;
      throw error;
    }
  }

  readonly positions: SinkPositions = {
    stored: () => this.#stored(),
    alreadyStored: (batch) => this.#alreadyStored(batch),
  };

  async #stored(): Promise<readonly string[]> {
    await this.#reach();
    const own = this.#store.positionsKeptBy(this.#name);
    for (const [channel, standing] of own) this.#known.set(channel, standing);
    this.#inDoubt = false;
    return [...own.values()].map(({ position }) => position);
  }

  async #alreadyStored(batch: Batch): Promise<readonly Event[]> {
    await this.#reach();
    this.#kept.clear();
    this.#inDoubt = true;
    const missing = new Set(this.#missing(batch));
    return batch.events.filter((event) => !missing.has(event));
  }

  async #reach(): Promise<void> {
    await turn();
    await this.#life.goesOn();
    if (!this.#store.reachable) throw away();
  }

  async #write(batch: Batch, signal: AbortSignal): Promise<void> {
    const mood = this.#store.nextMood();
    await this.#reach();
    if (mood === "refuses") throw away();
    if (mood === "odd") throw new Error("socket hang up");
    const missing = this.#missing(batch);
    if (!this.#store.takesPoison && missing.some(({ headers }) => headers[poisonHeader] !== undefined)) {
      throw new AgentError("DATA", "no column takes this value", { retryable: false });
    }
    await this.#send(this.#writeOf(batch, missing), mood, signal);
  }

  async #send(write: Write, mood: Mood, signal: AbortSignal): Promise<void> {
    if (mood === "commits later" || mood === "never commits") {
      if (mood === "commits later") this.#store.later(write);
      throw away();
    }
    if (mood === "hangs" || mood === "hangs and commits") {
      if (mood === "hangs and commits") this.#store.later(write);
      await this.#store.hold(signal);
      await this.#life.goesOn();
      throw away();
    }
    await this.#life.goesOn();
    const committed = this.#store.commit(write);
    await this.#life.goesOn();
    if (!committed) throw this.#conflict();
    if (mood === "loses the answer") throw away();
    if (write.move !== undefined) this.#known.set(write.move.channel, write.move.next);
  }

  /** The events of the batch that are not known to be stored. */
  #missing(batch: Batch): readonly Event[] {
    const stored = new Set<Event>();
    if (batch.position !== undefined && this.#inDoubt) {
      const { text, coveredBy } = batch.position;
      for (const position of this.#positionsOf(channelOf(text))) {
        const covered = position === text ? batch.events : coveredBy(position);
        for (const event of covered) stored.add(event);
      }
    }
    return batch.events.filter((event) => {
      const letter = event.headers[letterHeader];
      return !stored.has(event) && (letter === undefined || !this.#store.hasLetter(letter));
    });
  }

  #positionsOf(channel: string): readonly string[] {
    const remembered = this.#kept.get(channel);
    if (remembered !== undefined) return remembered;
    const all = this.#store.positionsOf(channel);
    this.#meet(channel, all.get(this.#name));
    const positions = [...all.values()].map(({ position }) => position);
    this.#kept.set(channel, positions);
    return positions;
  }

  /** What is not as it is known was written by this process, was deleted, or is another agent's. */
  #meet(channel: string, found: Standing | undefined): void {
    const known = this.#known.get(channel);
    const same = found?.position === known?.position && found?.owner === known?.owner;
    if (known !== undefined && found !== undefined && found.owner !== this.#life.run && !same) throw this.#conflict();
    this.#known.set(channel, found);
  }

  #writeOf({ position }: Batch, missing: readonly Event[]): Write {
    const rows = missing.map(({ body, headers }) => ({ id: Number(body), letter: headers[letterHeader] }));
    if (position === undefined) return { sink: this.#name, rows, move: undefined };
    const channel = channelOf(position.text);
    const next = { position: position.text, owner: this.#life.run };
    return { sink: this.#name, rows, move: { channel, known: this.#known.get(channel), next } };
  }

  #conflict(): AgentError {
    return new AgentError("POSITION_CONFLICT", "another agent has moved the position", { retryable: true });
  }
}

function channelOf(position: string): string {
  return position.slice(0, position.indexOf(":"));
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
