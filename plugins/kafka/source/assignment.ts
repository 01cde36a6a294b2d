import type { Place } from "../client/directory.js";

/** What a member of a group says of itself. */
export interface Member {
  readonly id: string;
  readonly topics: readonly string[];
}

/** Spreads all partitions over the members that read their topic, as evenly as possible; the same for the same members. */
export function spread(
  members: readonly Member[],
  partitions: ReadonlyMap<string, number>,
): ReadonlyMap<string, readonly Place[]> {
  const spreadOut = new Map<string, Place[]>(members.map(({ id }) => [id, []]));
  const sorted = [...members].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const [topic, count] of [...partitions].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const readers = sorted.filter(({ topics }) => topics.includes(topic)).map(({ id }) => spreadOut.get(id) ?? []);
    for (let partition = 0; partition < count; partition += 1) fewest(readers)?.push({ topic, partition });
  }
  return spreadOut;
}

function fewest(lists: readonly Place[][]): Place[] | undefined {
  return lists.reduce<Place[] | undefined>(
    (least, list) => (least === undefined || list.length < least.length ? list : least),
    undefined,
  );
}

// The forms in which members of a group have told each other this since Kafka 0.9; tools of Kafka read them.

/** What a member subscribes to. */
export function subscriptionBytes(topics: readonly string[]): Buffer {
  return Buffer.concat([int16(0), int32(topics.length), ...topics.flatMap(text), int32(-1)]);
}

/** The topics of a subscription; none for one that cannot be read. */
export function subscribedTopics(bytes: Uint8Array | null): readonly string[] {
  return readWhole(bytes, (read) => Array.from({ length: read.int32() }, () => read.text())) ?? [];
}

/** The partitions of one member. */
export function assignmentBytes(places: readonly Place[]): Buffer {
  const topics = [...new Set(places.map(({ topic }) => topic))].map((topic) => {
    const own = places.filter((place) => place.topic === topic);
    return Buffer.concat([...text(topic), int32(own.length), ...own.map(({ partition }) => int32(partition))]);
  });
  return Buffer.concat([int16(0), int32(topics.length), ...topics, int32(-1)]);
}

/** The partitions of an assignment; an empty one, and one that cannot be read, has none. */
export function assignedPlaces(bytes: Uint8Array | null): readonly Place[] {
  const topics = readWhole(bytes, (read) =>
    Array.from({ length: read.int32() }, () => {
      const topic = read.text();
      return Array.from({ length: read.int32() }, () => ({ topic, partition: read.int32() }));
    }),
  );
  return (topics ?? []).flat();
}

interface Reading {
  int32(): number;
  text(): string;
}

/** Behind the version, of which later ones only add to the end. */
function readWhole<T>(bytes: Uint8Array | null, read: (reading: Reading) => T): T | undefined {
  if (bytes === null || bytes.length === 0) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 2;
  const take = (length: number): number => {
    at += length;
    return at - length;
  };
  const reading = {
    int32: () => Math.min(buffer.readInt32BE(take(4)), buffer.length),
    text: () => {
      const length = buffer.readInt16BE(take(2));
      return buffer.toString("utf8", take(length), at);
    },
  };
  try {
    return read(reading);
  } catch {
    return undefined; // Of another program: it gets what the leader of the group can make of it.
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): readonly Buffer[] {
  const bytes = Buffer.from(value);
  return [int16(bytes.length), bytes];
}
