import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../../../agent/live/merge-patch.js";
import type { LiveSource } from "../../live/live-stream.js";
import { objectIn } from "../json.js";
import { runningIn, type Team, type WorkerView } from "../team.js";
import { mergedDocument, type Shown } from "./live-document.js";
import { WorkerStream } from "./worker-stream.js";

/** Milliseconds that a first listener waits for the documents of all workers. */
const LONGEST_BEGIN = 2000;

/** The live document of all workers. Their streams are open while somebody holds them. */
export class LiveWorkers implements LiveSource {
  readonly #team: Team;
  readonly #started: string;
  readonly #streams = new Map<number, WorkerStream>();
  #holders = 0;
  #seen = "";
  #revision = 0;

  constructor(team: Team, started: string) {
    this.#team = team;
    this.#started = started;
  }

  /** Whether streams of workers are open. */
  get isOpen(): boolean {
    return this.#streams.size > 0;
  }

  /** Differs after a change of the components, and when another worker is the one that describes them. */
  get revision(): number {
    return this.#revisionOf(this.#shown()[0]);
  }

  /** Opens the streams; they are closed when everybody who called this has called what it returns. */
  hold(): () => void {
    this.#holders += 1;
    this.#follow();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#close();
    };
  }

  /** Resolves when every worker that runs has shown its document, or has been waited for. */
  async begun(): Promise<void> {
    const waiting = new AbortController();
    const late = delay(LONGEST_BEGIN, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    await Promise.race([Promise.all([...this.#streams.values()].map(({ begun }) => begun)), late]);
    waiting.abort();
  }

  watch(): () => JsonObject {
    return () => {
      if (this.#holders > 0) this.#follow();
      return this.merged(this.#shown());
    };
  }

  /** Documents of workers as that of the agent. */
  merged(shown: readonly Shown[]): JsonObject {
    const revision = this.#revisionOf(shown[0]);
    return mergedDocument(shown, {
      team: this.#team,
      started: this.#started,
      revision,
      time: new Date().toISOString(),
    });
  }

  #revisionOf(first: Shown | undefined): number {
    const described =
      first === undefined ? this.#seen : `${first.worker.pid} ${String(objectIn(first.document["agent"])["revision"])}`;
    if (described !== this.#seen) {
      this.#seen = described;
      this.#revision += 1;
    }
    return this.#revision;
  }

  /** Opens streams of workers that came, and closes those of workers that are gone. */
  #follow(): void {
    const running = new Map(runningIn(this.#team).map((worker) => [worker.number, worker]));
    for (const [number, stream] of this.#streams) {
      if (!stream.hasEnded && isSame(stream.worker, running.get(number))) continue;
      stream.close();
      this.#streams.delete(number);
    }
    for (const [number, worker] of running) {
      if (!this.#streams.has(number)) this.#streams.set(number, new WorkerStream(worker));
    }
  }

  #close(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }

  #shown(): readonly Shown[] {
    const streams = [...this.#streams.values()].toSorted((one, other) => one.worker.number - other.worker.number);
    return streams.flatMap(({ worker, document }) => (document === undefined ? [] : [{ worker, document }]));
  }
}

function isSame(one: WorkerView, other: WorkerView | undefined): boolean {
  return other !== undefined && one.pid === other.pid && one.socket === other.socket;
}
