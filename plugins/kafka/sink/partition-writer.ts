import type { Event } from "deneb/sdk";
import { KafkaError } from "../client/kafka-error.js";
import type { Message } from "../client/outgoing.js";
import type { EntityRecord } from "./entity-record.js";
import type { OpenTopic } from "./open-topic.js";

/** Bytes of what is written at once to a partition: half of what a topic takes where nobody changed max.message.bytes. */
const CHUNK_BYTES = 524_288;

/** A record, and the event that it is of. */
export interface Outbound {
  readonly event: Event;
  readonly record: EntityRecord;
}

/** Records of one partition, in order. */
interface PartitionLane {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly Outbound[];
}

/** Spreads records of one topic over its partitions as the clients of Kafka do: by the key. */
export function lanesOf(
  records: readonly Outbound[],
  partitions: number,
  hash: (key: Buffer) => number,
): readonly PartitionLane[] {
  const lanes = new Map<number, { topic: string; partition: number; records: Outbound[] }>();
  for (const outbound of records) {
    const { topic, key } = outbound.record;
    const partition = (hash(Buffer.from(key)) & 0x7fff_ffff) % partitions;
    const lane = lanes.get(partition);
    if (lane === undefined) lanes.set(partition, { topic, partition, records: [outbound] });
    else lane.records.push(outbound);
  }
  return [...lanes.values()];
}

/**
 * Writes a lane in parts, one after another. A part that the brokers do not take because of a record is halved until that record is
 * alone, which fails by itself. Any other failure ends the lane: nothing behind it overtakes what was not written.
 */
export async function writeLane(
  { topic, partition, records }: PartitionLane,
  { producer }: OpenTopic,
  failed: (events: readonly Event[], error: unknown) => void,
): Promise<void> {
  const parts = [...chunks(records)];
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    try {
      await producer.write({ topic, partition }, part.map(messageOf));
    } catch (error) {
      const events = part.map(({ event }) => event);
      if (!isOfRecord(error)) return failed([...events, ...parts.flat().map(({ event }) => event)], error);
      if (part.length === 1) failed(events, error);
      else parts.unshift(part.slice(0, part.length / 2), part.slice(part.length / 2));
    }
  }
}

const ofRecord: readonly string[] = ["INVALID_RECORD", "INVALID_TIMESTAMP"];

/** Whether the brokers refuse a record for what it is. */
export function isOfRecord(error: unknown): boolean {
  return error instanceof KafkaError && (error.kind === "too-large" || ofRecord.includes(error.id));
}

function* chunks(records: readonly Outbound[]): Iterable<readonly Outbound[]> {
  let part: Outbound[] = [];
  let bytes = 0;
  for (const outbound of records) {
    const size = sizeOf(outbound.record);
    if (part.length > 0 && bytes + size > CHUNK_BYTES) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(outbound);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** The bytes of a record without its lengths. */
export function sizeOf({ key, value, headers }: EntityRecord): number {
  const named = [...headers].reduce((sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text), 0);
  return Buffer.byteLength(key) + Buffer.byteLength(value) + named;
}

function messageOf({ record: { key, value, headers, timestamp } }: Outbound): Message {
  return {
    key: Buffer.from(key),
    value: Buffer.from(value),
    headers: new Map([...headers].map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
    ...(timestamp === undefined ? {} : { timestamp: BigInt(timestamp) }),
  };
}
