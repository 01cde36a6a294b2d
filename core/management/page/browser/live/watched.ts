import { useEffect, useState } from "preact/hooks";

/** A value that views are drawn from again when it changes. */
export class Watched<Value> {
  #value: Value;
  readonly #watchers = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    this.#value = value;
    for (const watcher of this.#watchers) watcher();
  }

  /** Calls back after each change; returns what ends that. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

/** The value, for a component that is drawn again with each change of it. */
export function useWatched<Value>(watched: Watched<Value>): Value {
  const { value } = watched;
  const [, setDrawn] = useState(0);
  useEffect(() => {
    const drawAgain = () => setDrawn((drawn) => drawn + 1);
    // It may have changed between the drawing and now.
    if (watched.value !== value) drawAgain();
    return watched.watch(drawAgain);
  }, [watched]);
  return value;
}
