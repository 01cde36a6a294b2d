/** Decides which sink of a group gets the next batch. */
export interface SinkProcessor {
  /** The sinks to try, best first. */
  order(sinks: readonly string[]): readonly string[];
  succeeded(sink: string): void;
  failed(sink: string): void;
}
