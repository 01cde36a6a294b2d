import assert from "node:assert/strict";
import { test } from "node:test";
import { onAbort } from "../../../core/sdk/index.js";
import { type ClusterConnections, KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import type { Line, RequestLimits } from "../../../plugins/kafka/client/connections.js";
import { Directory } from "../../../plugins/kafka/client/directory.js";
import { KafkaError } from "../../../plugins/kafka/client/kafka-error.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { readMetadata } from "../../../plugins/kafka/client/topics.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { FirstLook } from "../../../plugins/kafka/source/first-look.js";
import { Losses } from "../../../plugins/kafka/source/losses.js";
import { OffsetBook } from "../../../plugins/kafka/source/offset-book.js";
import { Positions } from "../../../plugins/kafka/source/positions.js";
import { Reached } from "../../../plugins/kafka/source/reached.js";
import { recordingLog } from "../../support/recording-log.js";
import { until } from "../../support/until.js";
import { warningsDuring } from "../../support/warnings.js";
import { connection } from "./topic-client.js";

const SILENT = 2;

test("a leader that does not answer, and none, hold up no partition of another leader", async () => {
  const ending = new AbortController();
  const { positions } = await opened([1, SILENT, -1], ending.signal);

  await positions.lead();
  const readable = positions.readable();
  ending.abort();
  await positions.end();

  assert.deepEqual(readable, [{ topic: "t", partition: 0, offset: 3, epoch: 0, cuts: [] }]);
  assert.equal(positions.at({ topic: "t", partition: 1 }), undefined);
});

test("partitions of a leader that has failed are asked for one by one, and many of them are no warning", async () => {
  const ending = new AbortController();
  const { positions, asked } = await opened(Array(20).fill(SILENT), ending.signal, "fails at first");

  const warnings = await warningsDuring(async () => {
    await positions.lead();
    await until(
      async () => {
        await positions.lead();
        return asked();
      },
      (count) => count > 20,
    );
    ending.abort();
    await positions.end();
  });

  assert.deepEqual(warnings, []);
});

test("of a partition whose records are being put nothing else is done: not read, nor compared with another leader", async () => {
  const ending = new AbortController();
  const { positions, directory } = await opened([1, -1], ending.signal, "gets another epoch");
  const place = { topic: "t", partition: 0 };
  const put = () => positions.done({ ...place, offset: 4, epoch: 0, cuts: [] });
  await positions.lead();
  let free = () => {};
  const over = positions.putting(
    place,
    new Promise((resolve) => {
      free = resolve;
    }),
  );

  await directory.refresh();
  await positions.lead();
  const meanwhile = { readable: positions.readable(), failure: positions.failureOf(place) };
  put();
  free();
  await over;
  await positions.lead();
  ending.abort();
  await positions.end();

  assert.deepEqual(meanwhile, { readable: [], failure: undefined });
  assert.equal(positions.at(place)?.offset, 4);
  assert.match(positions.failureOf(place)?.message ?? "", /closed/);
});

test("a fault while records are put ends the reading", async () => {
  const { signal } = new AbortController();
  const { positions } = await opened([1], signal);
  await positions.lead();

  await positions.putting({ topic: "t", partition: 0 }, Promise.reject(new Error("a fault")));

  await assert.rejects(positions.lead(), /a fault/);
});

/** A topic whose partitions are led by these; the broker with the number SILENT never answers, though it may fail once. */
async function opened(
  leaders: readonly number[],
  signal: AbortSignal,
  manner?: "fails at first" | "gets another epoch",
) {
  const partition = { errorCode: 0, leaderEpoch: 0, replicaNodes: [1, SILENT] };
  const partitions = leaders.map((leaderId, partitionIndex) => ({ ...partition, partitionIndex, leaderId }));
  const brokers = [1, SILENT].map((port) => ({ nodeId: port, host: "kafka", port, rack: null }));
  const metadata = (leaderEpoch: number) => {
    const led = partitions.map((one) => ({ ...one, leaderEpoch }));
    return { clusterId: "c", brokers, topics: [{ errorCode: 0, name: "t", topicId: "i", partitions: led }] };
  };
  const offsets = { topics: [{ name: "t", partitions: [{ partitionIndex: 0, errorCode: 0, offset: 3 }] }] };
  const answers: unknown[] = [metadata(0), offsets, offsets];
  if (manner === "gets another epoch") answers.push(metadata(1));
  let asked = 0;
  const connections: ClusterConnections = {
    request: async <T>({ port }: Line, _: unknown, limits: RequestLimits): Promise<T> => {
      if (port === SILENT) asked += 1;
      const fails = manner === "gets another epoch" || (manner === "fails at first" && asked === 1);
      if (port === SILENT && fails) throw new KafkaError("unavailable", "closed");
      if (port === SILENT) return await silence(limits.signal);
      if (answers.length === 0) throw new KafkaError("unavailable", "closed");
      return JSON.parse(JSON.stringify(answers.shift()));
    },
    anySocket: () => undefined,
    close: () => undefined,
  };
  const config = { ...connection, bootstrap_servers: ["kafka:1"] };
  const cluster = new KafkaCluster(await loadLibrary(), connections, config);
  const directory = new Directory(cluster, await readMetadata(cluster, ["t"]));
  const places = leaders.map((_, partition) => ({ topic: "t", partition }));
  const membership = { generation: 1, memberId: "m", places };
  const parts = {
    cluster,
    directory,
    committed: [],
    config: { start: "earliest", isolation_level: "read_committed" } as const,
    losses: new Losses(recordingLog().log, undefined),
    reached: new Reached(),
    firstLook: new FirstLook(),
    book: new OffsetBook(new Coordinator(cluster, "g"), membership, { noteOf: () => "", told: () => undefined }),
  };
  return { positions: new Positions(places, parts, signal), directory, asked: () => asked };
}

function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal !== undefined) onAbort(signal, () => reject(new KafkaError("unavailable", "aborted")));
  });
}
