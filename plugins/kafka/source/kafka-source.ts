import { setTimeout as delay } from "node:timers/promises";
import { type Examiner, FailureLog, onAbort, type Probe, reasonOf, type Source } from "deneb/sdk";
import { type KafkaCluster, openCluster } from "../client/cluster.js";
import { connectionOptions } from "../client/connection-options.js";
import { loadLibrary } from "../client/library.js";
import { readMetadata } from "../client/topics.js";
import { Losses } from "./beginnings.js";
import type { KafkaSourceConfig } from "./config.js";
import { ConsumerGroup } from "./consumer-group.js";
import { Coordinator } from "./coordinator.js";
import { readPartitions } from "./reading.js";
import { type KafkaSourceContext, RecordReader } from "./record-reader.js";
import { sourceProbes } from "./source-probes.js";

const RETRY_MILLIS = 1000;
/** How often topics and their partitions are counted. */
const LOOK_MILLIS = 10_000;

/** Reads notifications from topics, together with the other sources of its group. */
export class KafkaSource implements Source {
  readonly #config: KafkaSourceConfig;
  readonly #context: KafkaSourceContext;
  readonly #stopping = new AbortController();
  readonly #losses: Losses;
  #cluster: KafkaCluster | undefined;
  #running: Promise<void> | undefined;
  readonly #failures: FailureLog;

  constructor(config: KafkaSourceConfig, context: KafkaSourceContext) {
    this.#config = config;
    this.#context = context;
    this.#failures = new FailureLog(context.log, "reading from Kafka again");
    const help = "Records that were removed from a topic before they were read.";
    this.#losses = new Losses(context.log, context.metrics?.counter("kafka_lost_records_total", help, ["topic"]));
  }

  probes(examiner: Examiner): readonly Probe[] {
    return sourceProbes(this.#config, { title: this.#title, group: this.#group }, examiner);
  }

  /** What an operator must mend fails here; brokers that are away are waited for. */
  async start(): Promise<void> {
    await loadLibrary();
    await connectionOptions(this.#config, this.#title);
    this.#running = this.#run();
  }

  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    const stopListening = onAbort(signal, () => this.#cluster?.close());
    try {
      await orAborted(this.#running, signal);
    } finally {
      stopListening();
      this.#cluster?.close();
    }
  }

  get #title(): string {
    return `source "${this.#context.name}"`;
  }

  get #group(): string {
    return this.#config.group === "" ? `deneb-${this.#context.name}` : this.#config.group;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        this.#cluster = await openCluster(this.#config, this.#title, signal);
        await this.#readIn(this.#cluster);
      } catch (error) {
        if (!signal.aborted) this.#failed(error);
      } finally {
        this.#cluster?.close();
        this.#cluster = undefined;
      }
      await delay(RETRY_MILLIS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #readIn(cluster: KafkaCluster): Promise<void> {
    const { signal } = this.#stopping;
    const { topics, session_timeout: sessionMillis } = this.#config;
    const group = this.#group;
    const coordinator = new Coordinator(cluster, group);
    const partitionsOf = (names: readonly string[]) => countPartitions(cluster, names);
    const member = new ConsumerGroup({ cluster, coordinator, group, topics, sessionMillis, partitionsOf });
    const records = new RecordReader(this.#config, this.#context);
    const parts = { cluster, coordinator, group: member, records, losses: this.#losses, config: this.#config };
    try {
      while (!signal.aborted) {
        const before = await partitionsOf(topics);
        this.#warnOfMissing(before);
        const membership = await member.join(signal);
        this.#joined(membership.places.length);
        const changed = new AbortController();
        const either = AbortSignal.any([signal, changed.signal]);
        const watching = this.#watch(partitionsOf, before, { changed, signal: either });
        try {
          await readPartitions(membership, { ...parts, groupName: group }, either);
        } finally {
          changed.abort();
          await watching;
        }
      }
    } finally {
      await member.leave().catch(() => undefined);
    }
  }

  /** Ends the reading when topics have come or have got more partitions. */
  async #watch(
    count: (names: readonly string[]) => Promise<ReadonlyMap<string, number>>,
    before: ReadonlyMap<string, number>,
    { changed, signal }: { readonly changed: AbortController; readonly signal: AbortSignal },
  ): Promise<void> {
    while (!signal.aborted) {
      await delay(LOOK_MILLIS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const now = await count(this.#config.topics).catch(() => before);
      if ([...now].some(([topic, partitions]) => before.get(topic) !== partitions)) changed.abort();
    }
  }

  #warnOfMissing(found: ReadonlyMap<string, number>): void {
    const missing = this.#config.topics.filter((topic) => !found.has(topic));
    if (missing.length > 0) this.#context.log.warn({ topics: missing }, "topics that are to be read are not there yet");
  }

  #joined(partitions: number): void {
    this.#failures.works();
    this.#context.report?.({ state: "up" });
    this.#context.log.info({ topics: this.#config.topics, group: this.#group, partitions }, "reading");
  }

  #failed(error: unknown): void {
    this.#context.report?.({ state: "degraded", reason: reasonOf(error) });
    const fields = { retryInMilliseconds: RETRY_MILLIS };
    this.#failures.failed("warn", error, { message: "no reading from Kafka", fields });
  }
}

async function countPartitions(cluster: KafkaCluster, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { topics, faults } = await readMetadata(cluster, names);
  for (const fault of faults.values()) if (fault.kind === "denied") throw fault;
  return new Map([...topics.values()].map(({ name, partitions }) => [name, partitions.length]));
}

async function orAborted(work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  let stopListening = () => {};
  const ended = new Promise<void>((resolve) => {
    stopListening = onAbort(signal, resolve);
  });
  await Promise.race([work, ended]);
  stopListening();
}
