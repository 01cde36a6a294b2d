import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import { EventReader } from "../../page/browser/live/event-reader.js";
import { merged } from "../../page/browser/live/merge-patch.js";
import { objectOf } from "../json.js";
import type { WorkerView } from "../team.js";
import { open } from "../worker-call.js";

/** Milliseconds until a worker begins its stream, and between two messages of it. */
const LONGEST_SILENCE = 10_000;

/** The live document of one worker, kept up to date by its stream until that ends. */
export class WorkerStream {
  readonly worker: WorkerView;
  /** Resolves when there is a document, or the stream has ended. */
  readonly begun: Promise<void>;
  readonly #end = new AbortController();
  readonly #begin: () => void;
  #document: JsonObject | undefined;
  #silence: NodeJS.Timeout | undefined;

  constructor(worker: WorkerView) {
    this.worker = worker;
    const { promise, resolve } = withResolver();
    this.begun = promise;
    this.#begin = resolve;
    this.#heard();
    void this.#follow().finally(() => this.close());
  }

  /** Undefined before the first, and when the stream has ended. */
  get document(): JsonObject | undefined {
    return this.hasEnded ? undefined : this.#document;
  }

  get hasEnded(): boolean {
    return this.#end.signal.aborted;
  }

  close(): void {
    clearTimeout(this.#silence);
    this.#end.abort();
    this.#begin();
  }

  /** A worker that ends or cannot be reached is one without a document. */
  async #follow(): Promise<void> {
    const { signal } = this.#end;
    const request = { method: "GET", path: "/v1/stream", headers: {}, body: undefined };
    try {
      const response = await open(this.worker, request, { limit: LONGEST_SILENCE, signal });
      if (response.statusCode !== 200) {
        response.destroy();
        return;
      }
      const events = new EventReader();
      for await (const text of response.setEncoding("utf8")) {
        this.#heard();
        for (const { name, data } of events.take(String(text))) this.#take(name, data);
      }
    } catch {
      // Its state in the team says why.
    }
  }

  #take(name: string, data: string): void {
    if (name === "snapshot") this.#document = objectOf(data);
    if (name === "change") this.#document = merged<JsonObject>(this.#document ?? {}, parsed(data));
    if (this.#document !== undefined) this.#begin();
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.close(), LONGEST_SILENCE).unref();
  }
}

function parsed(data: string): Json {
  return JSON.parse(data);
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}
