import { createInterface } from "node:readline";
import type { Json, JsonObject } from "../../agent/live/merge-patch.js";
import { documentOf } from "./documents.js";
import { isObject } from "./merged.js";
import type { WorkerView } from "./team.js";
import type { WorkerCalls } from "./worker-calls.js";

/** The live document of one worker, as its stream tells it. */
export class WorkerStream {
  readonly #calls: WorkerCalls;
  readonly #worker: WorkerView;
  readonly #end = new AbortController();
  #document: JsonObject | undefined;
  #hasEnded = false;

  constructor(calls: WorkerCalls, worker: WorkerView) {
    this.#calls = calls;
    this.#worker = worker;
  }

  /** The process that it belongs to. */
  get pid(): number | undefined {
    return this.#worker.pid;
  }

  /** Undefined before the first one, and after the stream has ended. */
  get document(): JsonObject | undefined {
    return this.#document;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Reads until the stream ends or `close` is called; resolves also when it fails. */
  async read(): Promise<void> {
    try {
      const { signal } = this.#end;
      const answer = await this.#calls.open(this.#worker, this.#calls.own("/v1/stream"), signal);
      let name = "";
      for await (const line of createInterface({ input: answer })) {
        if (line.startsWith("event: ")) name = line.slice("event: ".length);
        else if (line.startsWith("data: ")) this.#take(name, documentOf({ body: Buffer.from(line.slice(6)) }));
      }
    } catch {
      // A worker that ends, and a stream that is closed: the next document is made without it.
    } finally {
      this.#document = undefined;
      this.#hasEnded = true;
    }
  }

  close(): void {
    this.#end.abort();
  }

  #take(name: string, data: JsonObject): void {
    if (name === "snapshot") this.#document = data;
    else if (name === "change") this.#document = patched(this.#document ?? {}, data);
  }
}

/** A document after a JSON merge patch. */
export function patched(document: JsonObject, patch: JsonObject): JsonObject {
  const members = Object.entries(patch).map(([name, value]) => [name, patchedMember(document[name], value)] as const);
  return { ...document, ...Object.fromEntries(members) };
}

function patchedMember(before: Json | undefined, value: Json | undefined): Json | undefined {
  if (value === null) return undefined;
  return isObject(value) ? patched(isObject(before) ? before : {}, value) : value;
}
