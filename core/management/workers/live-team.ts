import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../../agent/live/merge-patch.js";
import type { LiveSource } from "../live/live-stream.js";
import { numberIn, objectIn, objectsIn, ofWorker } from "./documents.js";
import { isObject, merged } from "./merged.js";
import { shownWorker, type Team } from "./team.js";
import type { WorkerCalls } from "./worker-calls.js";
import { WorkerStream } from "./worker-stream.js";

/** Milliseconds without a look after which the streams of the workers are closed. */
const IDLE = 5000;
const CHECK = 100;
/** Checks for the first documents of the workers. */
const MOST_CHECKS = 20;

/** What all workers do now, put together from their streams, which are open while somebody looks. */
export class LiveTeam implements LiveSource {
  readonly #team: Team;
  readonly #calls: WorkerCalls;
  readonly #streams = new Map<number, WorkerStream>();
  #lookedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(team: Team, calls: WorkerCalls) {
    this.#team = team;
    this.#calls = calls;
  }

  /** That of the first worker: the topology is asked of it. */
  get revision(): number {
    const [first] = this.#documents();
    return numberIn(objectIn(first?.document ?? {}, "agent"), "revision");
  }

  watch(): () => JsonObject {
    return () => {
      this.open();
      return teamDocument(this.#documents(), this.#team);
    };
  }

  /** Opens the streams of workers that run, and of those that were started again. */
  open(): void {
    this.#lookedAt = performance.now();
    this.#timer ??= setInterval(() => this.#closeIfIdle(), IDLE).unref();
    for (const worker of this.#calls.running) {
      const known = this.#streams.get(worker.number);
      if (known?.pid === worker.pid && !known?.hasEnded) continue;
      known?.close();
      const stream = new WorkerStream(this.#calls, worker);
      this.#streams.set(worker.number, stream);
      void stream.read();
    }
  }

  /** Opens the streams and waits a moment for the first document of each. */
  async opened(): Promise<void> {
    this.open();
    for (let check = 0; check < MOST_CHECKS && this.#documents().length < this.#calls.running.length; check += 1) {
      await delay(CHECK, undefined, { ref: false });
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }

  #closeIfIdle(): void {
    if (performance.now() - this.#lookedAt >= IDLE) this.end();
  }

  #documents(): readonly WorkerDocument[] {
    return this.#team.workers.flatMap(({ number }) => {
      const document = this.#streams.get(number)?.document;
      return document === undefined ? [] : [{ worker: number, document }];
    });
  }
}

/** The live document of one worker. */
export interface WorkerDocument {
  readonly worker: number;
  readonly document: JsonObject;
}

/** The live documents of workers as one; it also says which workers there are. */
export function teamDocument(documents: readonly WorkerDocument[], team: Team): JsonObject {
  const whole = merged(documents.map(({ worker, document }) => ({ ...document, components: named(worker, document) })));
  return { ...whole, agent: { ...objectIn(whole, "agent"), workers: team.workers.map(shownWorker) } };
}

/** The components, with findings that name the worker. */
function named(worker: number, document: JsonObject): JsonObject {
  const components = Object.entries(objectIn(document, "components")).map(([id, component]) => {
    if (!isObject(component) || component["findings"] === undefined) return [id, component] as const;
    return [id, { ...component, findings: ofWorker(worker, objectsIn(component, "findings")) }] as const;
  });
  return Object.fromEntries(components);
}
