import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Event } from "../sdk/index.js";

/** The file with a line for each sink; the handle is absent while nothing is to be written. */
export interface MarkFile {
  readonly path: string;
  handle?: number | undefined;
}

interface InHandParts {
  readonly sink: string;
  /** What the process before left. */
  readonly before: CrashMark | undefined;
  /** The line of this sink. */
  readonly place: { readonly file: MarkFile; readonly row: number };
}

/** What is known of the events in the hands of a sink. */
export interface CrashMark {
  /** The key of its name: names may be longer than a line. */
  readonly sink: string;
  /** Of the first event in hand. */
  readonly first: string;
  /** Events in hand. */
  readonly count: number;
  /**
   * `handed-over`: the event loop has not turned since. `died` and `stuck`: likewise, and the process ended by itself, or
   * did not come back for half a second. `waiting`: for the store. `idle`: nothing is in hand.
   */
  readonly state: MarkState;
  /** Processes before this one that died with this event alone in hand, without any progress between them. */
  readonly deaths: number;
}

export const markStates = ["handed-over", "died", "stuck", "waiting", "idle"] as const;
type MarkState = (typeof markStates)[number];

/** How the process before died with events in hand, and what follows from it. */
interface Suspicion {
  readonly first: string;
  /** The number of events that are handed over alone. */
  readonly count: number;
  readonly deaths: number;
  /** The first event is not handed over any more. */
  readonly setAside: boolean;
}

/** What one sink has in its hands. */
export class InHand {
  readonly #parts: InHandParts;
  #suspicion: Suspicion | undefined;
  #mark: CrashMark;
  /** Goes up with every change; odd while an event is handed over. For the thread that looks whether it stands still. */
  readonly #turns = new Int32Array(new SharedArrayBuffer(4));
  #begun = false;
  /** Whether the first of the suspected events came, and how many more are handed over alone. */
  #seen = false;
  #left = MOST_BEFORE;
  #watcher: Worker | undefined;
  #isWatched: Promise<unknown> | undefined;

  constructor(parts: InHandParts) {
    this.#parts = parts;
    this.#suspicion = suspicionOf(parts.before);
    this.#mark = parts.before ?? { sink: parts.sink, first: NOTHING, count: 0, state: "idle", deaths: 0 };
    this.#save();
  }

  /** Undefined when the events are handed over as they come. */
  get suspicion(): Suspicion | undefined {
    return this.#suspicion;
  }

  /** Resolves when a thread looks whether this one comes back from a hand-over; it could not begin to while this one stands still. */
  async watched(): Promise<void> {
    this.#watcher ??= this.#watching();
    await this.#isWatched;
  }

  /** Before events are handed over. Deaths are counted for an event that is alone in hand. */
  begin(events: readonly Event[]): void {
    const [event] = events;
    if (event === undefined) return;
    const first = identityOf(event);
    this.#begun = true;
    const { first: suspect, deaths = 0 } = this.#suspicion ?? {};
    const isSuspect = events.length === 1 && suspect === first;
    this.#write({ first, count: events.length, state: "handed-over", deaths: isSuspect ? deaths : 0 });
    setImmediate(this.#turned, this.#turns[0]);
  }

  /** The events came back: they are stored, or the write failed without harm. */
  end(): void {
    if (this.#mark.state !== "idle") this.#write({ ...this.#mark, state: "idle" });
  }

  /** Whether this is the event that is not handed over any more. */
  isSetAside(event: Event): boolean {
    const { first, setAside = false } = this.#suspicion ?? {};
    return setAside && identityOf(event) === first;
  }

  /**
   * An event that was alone in hand is through, or set aside. Events before the suspected ones may come again, because
   * their channel could not be told in time that they are stored.
   */
  passed(event: Event): void {
    if (this.#suspicion === undefined) return;
    const { first, count } = this.#suspicion;
    const seen = this.#seen || identityOf(event) === first;
    this.#left = seen && !this.#seen ? count - 1 : this.#left - 1;
    this.#seen = seen;
    if (this.#left > 0) return;
    this.#suspicion = undefined;
    this.#stopWatching();
  }

  /** The process ends by itself. */
  died(): void {
    if (this.#mark.state === "handed-over") this.#write({ ...this.#mark, state: "died" });
  }

  close(): void {
    this.#stopWatching();
    if (this.#begun) this.#write({ ...this.#mark, state: "idle" });
  }

  readonly #turned = (turn: number | undefined): void => {
    if (this.#turns[0] !== turn) return;
    // It did not end the process this time, so the deaths before had another cause.
    if (this.#suspicion?.first === this.#mark.first) {
      this.#suspicion = { ...this.#suspicion, deaths: 0, setAside: false };
    }
    this.#write({ ...this.#mark, state: "waiting", deaths: 0 });
  };

  #write(mark: Omit<CrashMark, "sink">): void {
    this.#mark = { ...mark, sink: this.#parts.sink };
    const turn = (this.#turns[0] ?? 0) + 1;
    Atomics.store(this.#turns, 0, turn % 2 === Number(mark.state === "handed-over") ? turn : turn + 1);
    this.#save();
  }

  /** Written over in place. */
  #save(): void {
    const { file, row } = this.#parts.place;
    const line = lineOf(this.#mark);
    if (file.handle === undefined) return;
    try {
      writeSync(file.handle, line, 0, line.length, row * line.length);
    } catch {
      // A disk that is full or fails: the next process suspects what the mark before says, and delivery goes on.
    }
  }

  #watching(): Worker {
    const workerData = { turns: this.#turns, file: this.#parts.place.file.path, row: this.#parts.place.row };
    const worker = new Worker(new URL("./stuck-watch.js", import.meta.url), { workerData });
    worker.unref();
    worker.on("error", () => undefined);
    // Without the thread there is no evidence of that kind, and all else goes on.
    const looks = ["message", "error", "exit"].map((event) => once(worker, event).catch(() => undefined));
    this.#isWatched = Promise.race(looks);
    return worker;
  }

  #stopWatching(): void {
    void this.#watcher?.terminate();
    this.#watcher = undefined;
  }
}

/** Events before the first suspected one that are handed over alone; when it is not among them, it is stored already. */
const MOST_BEFORE = 10_000;
const NOTHING = "0".repeat(32);

/** Deaths with an event alone in hand, the last of them with evidence, after which it is set aside. */
const MOST_DEATHS = 2;
const proofs: readonly MarkState[] = ["died", "stuck"];

function suspicionOf(before: CrashMark | undefined): Suspicion | undefined {
  if (before === undefined || before.count === 0) return undefined;
  const { first, count, state } = before;
  if (state !== "handed-over" && !proofs.includes(state)) return undefined;
  const deaths = count === 1 ? before.deaths + 1 : 0;
  return { first, count, deaths, setAside: deaths >= MOST_DEATHS && proofs.includes(state) };
}

/** The same for the same event after a restart. */
function identityOf({ headers, body }: Event): string {
  return keyOf(JSON.stringify([headers, body]));
}

/** A text, such as the name of a sink, as a line holds it. */
export function keyOf(text: string): string {
  return createHash("sha1").update(text).digest("hex").slice(0, 32);
}

/** Bytes of a line, its end included. */
export const LINE = 128;
/** Where the state of a line begins, and its bytes. */
export const STATE_AT = 0;
export const STATE_BYTES = 12;

/** The line of a mark; the state comes first, in bytes of its own, so that it can be written over alone. */
function lineOf({ sink, first, count, state, deaths }: CrashMark): Buffer {
  const text = `${state.padEnd(STATE_BYTES)}${[sink, first, count, deaths].join(" ")}`;
  return Buffer.from(`${text.padEnd(LINE - 1)}\n`, "latin1");
}
