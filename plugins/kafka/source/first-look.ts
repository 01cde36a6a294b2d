import type { Place } from "../client/directory.js";
import type { FoundTopics } from "./found-topics.js";

interface Seen {
  /** Undefined: there was no such topic. */
  readonly id: string | undefined;
  readonly partitions: number;
}

/** What a source saw when it looked at its topics for the first time: all records of a partition that came later are newer than that. */
export class FirstLook {
  readonly #seen = new Map<string, Seen>();

  /** Of a topic that may not be read nothing is seen. */
  note({ partitions, ids, missing }: FoundTopics): void {
    for (const name of missing) this.#note(name, { id: undefined, partitions: 0 });
    for (const [name, id] of ids) this.#note(name, { id, partitions: partitions.get(name) ?? 0 });
  }

  /** Whether the partition was not there; `topicId` is that of its topic now. */
  isLater(topicId: string, { topic, partition }: Place): boolean {
    const seen = this.#seen.get(topic);
    return seen !== undefined && (seen.id !== topicId || partition >= seen.partitions);
  }

  #note(name: string, seen: Seen): void {
    if (!this.#seen.has(name)) this.#seen.set(name, seen);
  }
}
