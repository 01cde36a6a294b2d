import type { KafkaCluster } from "../client/cluster.js";
import { readCommonEnds } from "../client/common-ends.js";
import type { Directory, Place } from "../client/directory.js";
import { type Extent, extentsAt, stableEndsAt } from "../client/offsets.js";
import type { KafkaSourceConfig } from "./config.js";
import type { Committed } from "./coordinator.js";
import type { FirstLook } from "./first-look.js";
import type { Losses } from "./losses.js";
import { cutBehind, type Mark, markOf, unitedCuts } from "./mark.js";
import type { Beginning, Reached } from "./reached.js";

export interface BeginningParts {
  readonly cluster: KafkaCluster;
  readonly directory: Directory;
  /** Up to where the group has read. */
  readonly committed: readonly Committed[];
  readonly config: Pick<KafkaSourceConfig, "start" | "isolation_level">;
  readonly losses: Losses;
  /** Up to where this source has read partitions before, perhaps without telling the group. */
  readonly reached: Reached;
  readonly firstLook: Pick<FirstLook, "isLater">;
}

interface LedPlaces {
  readonly node: number;
  readonly places: readonly Place[];
  readonly signal: AbortSignal;
}

/** Where a group goes on in partitions that one broker leads: behind what it has read, or where it begins. Asks once. */
export async function beginningsAt(led: LedPlaces, parts: BeginningParts): Promise<readonly Beginning[]> {
  const { cluster, directory } = parts;
  const { node, signal } = led;
  const committed = byPlace(parts.committed);
  const farthest = byPlace(led.places.flatMap((place) => farthestOf(place, committed.get(keyOf(place)), parts) ?? []));
  // What is asked here counts under this epoch only, whatever is heard of the leaders meanwhile.
  const group = led.places.map(({ topic, partition }) => {
    return { topic, partition, epoch: directory.epoch({ topic, partition }) };
  });
  const compared = { node, group: [...farthest.values()], signal };
  const ends = byPlace(farthest.size === 0 ? [] : await readCommonEnds({ cluster, directory }, compared));
  const extents = await extentsAt(cluster, { node, group, signal });
  const newest = await newestOf({ node, group, signal }, extents, parts);
  return group.map((place, index) => {
    const key = keyOf(place);
    const extent = extents[index] ?? { ...place, first: 0, next: 0 };
    const known = committed.get(key);
    const read = farthest.get(key);
    const end = Math.min(ends.get(key)?.offset ?? extent.next, extent.next);
    const latest = newest[index] ?? extent.next;
    return { ...place, ...begun({ ...extent, ...place, latest }, { known, read, end }, parts) };
  });
}

/** Behind the newest record that is read. */
async function newestOf(
  asked: Parameters<typeof stableEndsAt>[1],
  extents: readonly Extent[],
  { cluster, config }: BeginningParts,
): Promise<readonly number[]> {
  if (config.start === "earliest" || config.isolation_level === "read_uncommitted") {
    return extents.map(({ next }) => next);
  }
  return await stableEndsAt(cluster, asked);
}

/** The last position of which it is known under which leader it was read. Of offsets that tools have moved, and of older ones, it is not. */
function farthestOf(
  place: Place,
  committed: Committed | undefined,
  { directory, reached }: BeginningParts,
): Beginning | undefined {
  const { id } = directory.topic(place.topic);
  const own = reached.of(id, place);
  const mark = committed === undefined ? undefined : markOf(committed.note, id);
  if (committed === undefined || mark === undefined) return own;
  if (own !== undefined && committed.offset < own.offset) return { ...own, cuts: unitedCuts(mark, own) };
  return committed.epoch < 0 ? undefined : { ...committed, ...mark };
}

interface Held extends Extent {
  readonly epoch: number;
  readonly latest: number;
}

interface Known {
  /** Up to where the group has read. */
  readonly known: Committed | undefined;
  /** The same, or up to where this source has, where it is known under which leader that was read. */
  readonly read: Beginning | undefined;
  /** The offset up to which the partition is the one that was read. */
  readonly end: number;
}

function begun(
  held: Held,
  { known, read, end }: Known,
  { directory, config, losses, reached, firstLook }: BeginningParts,
): Mark & { readonly offset: number } {
  const { first, latest } = held;
  const { id } = directory.topic(held.topic);
  const noted = known === undefined ? { cuts: [] } : markOf(known.note, id);
  const mark = read ?? noted;
  if (mark === undefined) {
    losses.remade(held, first);
    return { offset: first, cuts: [] };
  }
  // Another topic of this name had what it does not note.
  const from = reached.goesOnAt(id, held, noted === undefined ? undefined : known);
  const farthest = read ?? known;
  if (from === undefined || farthest === undefined) {
    const isWhole = config.start === "earliest" || firstLook.isLater(id, held);
    return { offset: isWhole ? first : latest, cuts: [] };
  }
  const isCut = end < farthest.offset;
  if (isCut) losses.truncated(held, farthest.offset, end);
  const offset = Math.min(from, end);
  if (offset < first) losses.removed(held, offset, first);
  // Where it is not known who led before, the present leader was another one.
  const before = read?.epoch ?? held.epoch - 1;
  return { offset: Math.max(offset, first), cuts: isCut ? cutBehind(mark, before) : mark.cuts };
}

function byPlace<P extends Place>(places: readonly P[]): ReadonlyMap<string, P> {
  return new Map(places.map((place) => [keyOf(place), place]));
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
