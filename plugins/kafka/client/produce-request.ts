import type { Identity, Message, Outgoing } from "./outgoing.js";
import { RequestBytes, signedSize, sizedSize } from "./request-bytes.js";

const ALL_REPLICAS = -1;
/** The format of batches since Kafka 0.11. */
const MAGIC = 2;
/** Bytes of a batch before its records. */
const BATCH_HEAD = 61;
/** Bytes of a batch before those that its length counts, and before those that its checksum is of. */
const UNCOUNTED = 12;
const UNCHECKED = 21;
/** More than a request has besides names and batches. */
const REQUEST_HEAD = 32;
/** More than a topic or a partition of a request has besides its name or its batch. */
const EACH_HEAD = 16;

interface ProduceOrder {
  /** One for each partition. */
  readonly batch: readonly Outgoing[];
  readonly identity: Identity;
  /** Milliseconds after which the broker says that other replicas did not confirm. */
  readonly waitMillis: number;
  /** Milliseconds since 1970, for messages without a time. */
  readonly now: number;
  /** CRC-32C. */
  checksum(bytes: Buffer): number;
}

/** A batch of records: where it goes, and the sizes of its records without their lengths. */
interface Batch {
  readonly outgoing: Outgoing;
  readonly first: number;
  readonly sizes: readonly number[];
  readonly bytes: number;
}

/** The body of a request Produce of version 9: {@link https://kafka.apache.org/protocol#The_Messages_Produce}. */
export function produceRequest(order: ProduceOrder): Buffer {
  const topics = new Map<string, Batch[]>();
  let most = REQUEST_HEAD;
  for (const outgoing of order.batch) {
    const batch = batchOf(outgoing, order.now);
    most += batch.bytes + EACH_HEAD;
    const known = topics.get(outgoing.topic);
    if (known !== undefined) known.push(batch);
    else {
      most += Buffer.byteLength(outgoing.topic) + EACH_HEAD;
      topics.set(outgoing.topic, [batch]);
    }
  }
  const bytes = new RequestBytes(most);
  bytes.unsigned(0);
  bytes.int16(ALL_REPLICAS);
  bytes.int32(order.waitMillis);
  bytes.unsigned(topics.size + 1);
  for (const [topic, batches] of topics) {
    const name = Buffer.from(topic);
    bytes.unsigned(name.length + 1);
    bytes.append(name);
    bytes.unsigned(batches.length + 1);
    for (const batch of batches) {
      bytes.int32(batch.outgoing.partition);
      bytes.unsigned(batch.bytes + 1);
      appendBatch(bytes, batch, order);
      bytes.unsigned(0);
    }
    bytes.unsigned(0);
  }
  bytes.unsigned(0);
  return bytes.since(0);
}

function batchOf(outgoing: Outgoing, now: number): Batch {
  const { messages } = outgoing;
  const first = timeOf(messages[0], now);
  const sizes = messages.map((message, index) => recordSize(message, timeOf(message, now) - first, index));
  return { outgoing, first, sizes, bytes: sizes.reduce((sum, size) => sum + signedSize(size) + size, BATCH_HEAD) };
}

function appendBatch(bytes: RequestBytes, batch: Batch, { identity, now, checksum }: ProduceOrder): void {
  const { messages, sequence } = batch.outgoing;
  const from = bytes.at;
  bytes.int64(0);
  bytes.int32(batch.bytes - UNCOUNTED);
  bytes.int32(0);
  bytes.int8(MAGIC);
  bytes.int32(0);
  bytes.int16(0);
  bytes.int32(messages.length - 1);
  bytes.int64(batch.first);
  bytes.int64(messages.reduce((latest, message) => Math.max(latest, timeOf(message, now)), batch.first));
  bytes.bigint64(identity.producerId);
  bytes.int16(identity.producerEpoch);
  bytes.int32(sequence);
  bytes.int32(messages.length);
  for (const [index, message] of messages.entries()) {
    bytes.signed(batch.sizes[index] ?? 0);
    appendRecord(bytes, message, { after: timeOf(message, now) - batch.first, index });
  }
  bytes.uint32At(from + UNCHECKED - 4, checksum(bytes.since(from + UNCHECKED)));
}

interface PlaceInBatch {
  /** Milliseconds after the first record. */
  readonly after: number;
  readonly index: number;
}

function appendRecord(bytes: RequestBytes, { key, value, headers }: Message, { after, index }: PlaceInBatch): void {
  bytes.int8(0);
  bytes.signed(after);
  bytes.signed(index);
  bytes.sized(key);
  bytes.sized(value);
  bytes.signed(headers?.size ?? 0);
  for (const [name, content] of headers ?? []) {
    bytes.sized(name);
    bytes.sized(content);
  }
}

/** The bytes of a record behind its length. */
function recordSize({ key, value, headers }: Message, after: number, index: number): number {
  let size = 1 + signedSize(after) + signedSize(index) + sizedSize(key) + sizedSize(value);
  size += signedSize(headers?.size ?? 0);
  for (const [name, content] of headers ?? []) size += sizedSize(name) + sizedSize(content);
  return size;
}

function timeOf(message: Message | undefined, now: number): number {
  return message?.timestamp === undefined ? now : Number(message.timestamp);
}
