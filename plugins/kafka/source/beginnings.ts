import type { Logger, MetricCounter } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import type { Directory, Place } from "../client/directory.js";
import { type Extent, type Position, readExtents } from "../client/offsets.js";
import type { KafkaSourceConfig } from "./config.js";
import type { Committed, Coordinator } from "./coordinator.js";

export interface BeginningParts {
  readonly cluster: KafkaCluster;
  readonly directory: Directory;
  readonly coordinator: Coordinator;
  readonly start: KafkaSourceConfig["start"];
  readonly losses: Losses;
}

/** Where a group goes on in partitions: behind what it has read, or where it begins. */
export async function beginnings(places: readonly Place[], parts: BeginningParts): Promise<readonly Position[]> {
  if (places.length === 0) return [];
  const { cluster, directory, coordinator, start, losses } = parts;
  const committed = new Map((await coordinator.committed(places)).map((one) => [keyOf(one), one]));
  const extents = await readExtents(cluster, directory, places);
  return extents.map((extent) => {
    const { topic, partition } = extent;
    const known = committed.get(keyOf(extent));
    const offset =
      known === undefined
        ? extent[start === "earliest" ? "first" : "next"]
        : resumed(known, extent, { id: directory.topic(topic).id, losses });
    return { topic, partition, offset };
  });
}

/** Reports records that nobody can read any more. */
export class Losses {
  readonly #log: Logger;
  readonly #counter: MetricCounter | undefined;

  constructor(log: Logger, counter: MetricCounter | undefined) {
    this.#log = log;
    this.#counter = counter;
  }

  /** Records were removed before they were read, by the retention of the topic or by hand. */
  removed({ topic, partition }: Place, from: number, to: number): void {
    this.#counter?.add(to - from, { topic });
    const message = "records were removed from the topic before they were read; see its retention";
    this.#log.error({ topic, partition, from, to, lost: to - from }, message);
  }

  /** The partition ends before what was read: a broker without all records became its leader, and those are gone. */
  truncated({ topic, partition }: Place, from: number, to: number): void {
    const message = "the partition ends before what was read of it; reading goes on at its end";
    this.#log.error({ topic, partition, from, to }, message);
  }

  remade({ topic, partition }: Place, to: number): void {
    const message = "the topic was removed and made again; reading begins at its oldest record";
    this.#log.warn({ topic, partition, to }, message);
  }
}

function resumed(
  { offset, note }: Committed,
  extent: Extent,
  { id, losses }: { readonly id: string; readonly losses: Losses },
): number {
  // Tools that move the offsets of a group leave no note.
  if (note !== "" && note !== id) {
    losses.remade(extent, extent.first);
    return extent.first;
  }
  if (offset < extent.first) {
    losses.removed(extent, offset, extent.first);
    return extent.first;
  }
  if (offset > extent.next) {
    losses.truncated(extent, offset, extent.next);
    return extent.next;
  }
  return offset;
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
