import type { RecordsBatch } from "@platformatic/kafka";
import type { KafkaCluster, Send } from "./cluster.js";
import { committedBatches, isMark } from "./committed-batches.js";
import { DecodingRoom } from "./decoding-room.js";
import type { Directory } from "./directory.js";
import { type AnsweredPartition, type FetchAnswer, fetchAnswer } from "./fetch-answer.js";
import { KafkaError, protocolError } from "./kafka-error.js";
import { type Isolation, isolationLevels, type Position } from "./offsets.js";
import { readBatches } from "./record-batches.js";

const NO_ERROR = 0;
const NO_SESSION = 0;
const SESSIONLESS = -1;
const ANY_LEADER = -1;

/** One record as it was read. */
export interface FetchedRecord {
  readonly offset: number;
  /** Of the leader that wrote it. */
  readonly epoch: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: Buffer | null, value: Buffer | null])[];
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

/** What one partition answered. */
export interface Fetched extends Position {
  readonly records: readonly FetchedRecord[];
  /** The offsets of marks, which are no records. */
  readonly marks: readonly number[];
  /** Where to go on reading: behind the records, and behind marks that are none. */
  readonly next: number;
}

export interface FetchOutcome {
  /** Partitions that have something. */
  readonly fetched: readonly Fetched[];
  /** Positions that are not in their partition. */
  readonly outside: readonly Position[];
  /** Positions that have nothing, each with whether a transaction that goes on holds back what is behind it. */
  readonly empty: ReadonlyMap<Position, boolean>;
  /** Positions whose records cannot be decoded, each with why. */
  readonly unreadable: ReadonlyMap<Position, KafkaError>;
  /** Whether a partition has another leader or none: the metadata is old. */
  readonly stale: boolean;
}

interface FetchLimits {
  readonly purpose: string;
  readonly isolation: Isolation;
  readonly bytes: number;
  readonly waitMillis: number;
  readonly signal: AbortSignal;
}

/** Asks one broker for the records of partitions that it leads, and lets it wait until there are any. */
export async function fetchFrom(
  { cluster, directory }: { readonly cluster: KafkaCluster; readonly directory: Directory },
  node: number,
  { positions, limits }: { readonly positions: readonly Position[]; readonly limits: FetchLimits },
): Promise<FetchOutcome> {
  const { purpose, bytes, waitMillis, signal } = limits;
  const topics = topicsOf(directory, positions, bytes);
  const level = isolationLevels[limits.isolation];
  const send: Send<FetchAnswer> = async (connection, library) => {
    const { createRequest, api } = library.fetchV13;
    const fetch = library.createAPI(api.key, api.version, createRequest, fetchAnswer);
    return await fetch.async(connection, waitMillis, 1, bytes, level, NO_SESSION, SESSIONLESS, topics, [], "");
  };
  const answer = await cluster.askNode(node, send, { purpose, signal, millis: waitMillis + cluster.attemptMillis });
  if (answer.errorCode !== NO_ERROR) throw protocolError(cluster.library, answer.errorCode, "reading");
  return outcomeOf(cluster, positions, { directory, answer, isolation: limits.isolation });
}

interface Answered {
  readonly directory: Directory;
  readonly answer: FetchAnswer;
  readonly isolation: Isolation;
}

function outcomeOf(
  cluster: KafkaCluster,
  positions: readonly Position[],
  { directory, answer, isolation }: Answered,
): FetchOutcome {
  const places = new Map(positions.map((at) => [`${directory.topic(at.topic).id}:${at.partition}`, at]));
  const fetched: Fetched[] = [];
  const outside: Position[] = [];
  const empty = new Map<Position, boolean>();
  const unreadable = new Map<Position, KafkaError>();
  let stale = false;
  const room = new DecodingRoom();
  const read = (position: Position, answered: AnsweredPartition): void => {
    // Nothing is said of it: the next read begins with it.
    if (room.isFull) return;
    const { batches, fault } = readBatches(cluster.library, answered.bytes, room);
    const found = recordsOf(batches, answered, position);
    if (found.next > position.offset) fetched.push(found);
    else if (fault !== undefined) unreadable.set(position, unreadableError(position, fault));
    else empty.set(position, isolation === "read_committed" && isHeldBack(answered, position));
  };
  const take = (position: Position, answered: AnsweredPartition): void => {
    const { errorCode } = answered;
    if (errorCode === NO_ERROR) {
      read(position, answered);
      return;
    }
    const error = protocolError(cluster.library, errorCode, `reading topic "${position.topic}"`);
    if (error.kind === "offset") outside.push(position);
    else if (error.kind === "unavailable" || error.kind === "full") stale = true;
    else throw error;
  };
  for (const { topicId, partitions } of answer.responses) {
    for (const partition of partitions) {
      const position = places.get(`${topicId}:${partition.partitionIndex}`);
      if (position !== undefined) take(position, partition);
    }
  }
  return { fetched, outside, empty, unreadable, stale };
}

/** Behind the last stable offset are records of a transaction that is neither committed nor aborted. */
function isHeldBack(
  { lastStableOffset: stable, highWatermark: end }: AnsweredPartition,
  { offset }: Position,
): boolean {
  return stable < end && offset >= Number(stable) && offset < Number(end);
}

function unreadableError({ topic, partition }: Position, fault: string): KafkaError {
  return new KafkaError("unavailable", `reading partition ${partition} of topic "${topic}": ${fault}`);
}

function recordsOf(
  batches: readonly RecordsBatch[],
  { abortedTransactions }: AnsweredPartition,
  position: Position,
): Fetched {
  const records: FetchedRecord[] = [];
  const last = batches.at(-1);
  const end = last === undefined ? 0 : Number(last.firstOffset) + last.lastOffsetDelta + 1;
  const next = Math.max(position.offset, end);
  for (const batch of committedBatches(batches, abortedTransactions)) {
    const first = Number(batch.firstOffset);
    for (const { offsetDelta, key, value, headers, timestampDelta } of batch.records) {
      const offset = first + offsetDelta;
      // A batch is read as a whole, from its beginning.
      if (offset < position.offset) continue;
      const epoch = batch.partitionLeaderEpoch;
      records.push({ offset, epoch, key, value, headers, timestamp: Number(batch.firstTimestamp + timestampDelta) });
    }
  }
  const marks = batches.filter((batch) => isMark(batch)).map(({ firstOffset }) => Number(firstOffset));
  return { ...position, records, marks: marks.filter((offset) => offset >= position.offset), next };
}

function topicsOf(directory: Directory, positions: readonly Position[], bytes: number) {
  const byTopic = new Map<string, Position[]>();
  for (const position of positions) {
    const group = byTopic.get(position.topic);
    if (group === undefined) byTopic.set(position.topic, [position]);
    else group.push(position);
  }
  return [...byTopic].map(([topic, group]) => ({
    topicId: directory.topic(topic).id,
    partitions: group.map(({ partition, offset, epoch }) => ({
      partition,
      currentLeaderEpoch: epoch ?? ANY_LEADER,
      fetchOffset: BigInt(offset),
      lastFetchedEpoch: -1,
      partitionMaxBytes: bytes,
    })),
  }));
}
