/**
 * Decides which sink of a group gets the next batch. It is asked again for every try: the first sink of its answer gets
 * the batch, the next one when that fails, and so on; when all fail the batch waits and it is asked anew.
 */
export interface SinkProcessor {
  /** The sinks to try, best first: each of the given names once at the most, none that is not given. */
  order(sinks: readonly string[]): readonly string[];
  /** The sink stored a batch. Not told of data that a sink refuses: then neither is called. */
  succeeded(sink: string): void;
  /** The sink could not be used: its store is away, or it threw what it does not explain. */
  failed(sink: string): void;
}
