import { type Examiner, FailureLog, onAbort, type Probe, pause, reasonOf, type Source } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { connectionOptions } from "../client/connection-options.js";
import { loadLibrary } from "../client/library.js";
import { openCluster } from "../client/open-cluster.js";
import type { KafkaSourceConfig } from "./config.js";
import { ConsumerGroup, isForeign } from "./consumer-group.js";
import { Coordinator } from "./coordinator.js";
import { FirstLook } from "./first-look.js";
import { asSpread, countPartitions, type FoundTopics, findTopics, isOther } from "./found-topics.js";
import { Losses } from "./losses.js";
import { Reached } from "./reached.js";
import { type ReadingParts, readPartitions } from "./reading.js";
import { type KafkaSourceContext, RecordReader } from "./record-reader.js";
import { sourceProbes } from "./source-probes.js";
import { Standstills } from "./standstills.js";

const RETRY_MILLIS = 1000;
/** The same while other programs are in the group: each try moves their partitions. */
const FOREIGN_MILLIS = 10_000;
/** How often topics and their partitions are counted. */
const LOOK_MILLIS = 10_000;

/** Reads notifications from topics, together with the other sources of its group. */
export class KafkaSource implements Source {
  readonly #config: KafkaSourceConfig;
  readonly #context: KafkaSourceContext;
  readonly #stopping = new AbortController();
  readonly #records: RecordReader;
  readonly #losses: Losses;
  readonly #standstills: Standstills;
  readonly #reached = new Reached();
  readonly #firstLook = new FirstLook();
  #cluster: KafkaCluster | undefined;
  #running: Promise<void> | undefined;
  readonly #failures: FailureLog;

  constructor(config: KafkaSourceConfig, context: KafkaSourceContext) {
    this.#config = config;
    this.#context = context;
    this.#records = new RecordReader(config, context);
    this.#failures = new FailureLog(context.log, "reading from Kafka again");
    const help = "Records that were removed from a topic before they were read.";
    this.#losses = new Losses(context.log, context.metrics?.counter("kafka_lost_records_total", help, ["topic"]));
    const standing = "Partitions of the source that are not read, by cause.";
    this.#standstills = new Standstills({
      log: context.log,
      gauge: context.metrics?.gauge("kafka_standing_partitions", standing, ["topic", "cause"]),
      report: (health) => context.report?.(health),
      transactionMillis: config.open_transaction_timeout,
    });
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
      this.#standstills.look([]);
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
      let retryMillis = RETRY_MILLIS;
      try {
        this.#cluster = await openCluster(this.#config, this.#title, signal);
        this.#cluster.throttling.watch(this.#context.log);
        await this.#readIn(this.#cluster);
      } catch (error) {
        if (isForeign(error)) retryMillis = FOREIGN_MILLIS;
        if (!signal.aborted) this.#notReading(error, { retryInMilliseconds: retryMillis });
      } finally {
        this.#cluster?.close();
        this.#cluster = undefined;
      }
      await pause(retryMillis, signal);
    }
  }

  async #readIn(cluster: KafkaCluster): Promise<void> {
    const { signal } = this.#stopping;
    const sessionMillis = this.#config.session_timeout;
    const group = this.#group;
    const coordinator = new Coordinator(cluster, group);
    const partitionsOf = (names: readonly string[]) => countPartitions(cluster, names);
    const member = new ConsumerGroup({ cluster, coordinator, group, sessionMillis, partitionsOf });
    const parts = {
      cluster,
      coordinator,
      group: member,
      records: this.#records,
      losses: this.#losses,
      standstills: this.#standstills,
      config: this.#config,
      reached: this.#reached,
      firstLook: this.#firstLook,
    };
    try {
      while (!signal.aborted) await this.#readAsMember({ ...parts, groupName: group });
    } finally {
      await member.leave().catch(() => undefined);
    }
  }

  /** Joins the group, and reads until its members or the topics change. */
  async #readAsMember(parts: Omit<ReadingParts, "begun">): Promise<void> {
    const { cluster, group } = parts;
    const changed = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, changed.signal]);
    const before = await findTopics(cluster, this.#config.topics);
    this.#firstLook.note(before);
    this.#warnOfMissing(before);
    this.#standstills.deny(before.denied);
    const late = setTimeout(() => this.#waitsFor(group.waitsFor), this.#config.session_timeout);
    let watching: Promise<void> | undefined;
    try {
      const membership = await group.join([...before.partitions.keys()], signal);
      watching = this.#watch(cluster, asSpread(before, membership.counted), { changed, signal });
      const begun = () => {
        clearTimeout(late);
        this.#begun(membership.places.length);
      };
      await readPartitions(membership, { ...parts, begun }, signal);
    } finally {
      clearTimeout(late);
      changed.abort();
      await watching;
    }
  }

  /** Ends the reading when topics have come or gone, may be read or not any more, or have got more partitions. */
  async #watch(
    cluster: KafkaCluster,
    before: FoundTopics,
    { changed, signal }: { readonly changed: AbortController; readonly signal: AbortSignal },
  ): Promise<void> {
    while (!signal.aborted) {
      await pause(LOOK_MILLIS, signal);
      if (signal.aborted) return;
      const now = await findTopics(cluster, this.#config.topics).catch(() => before);
      if (isOther(before, now)) changed.abort();
    }
  }

  #warnOfMissing({ partitions, denied }: FoundTopics): void {
    const missing = this.#config.topics.filter((topic) => !partitions.has(topic) && !denied.has(topic));
    if (missing.length > 0) this.#context.log.warn({ topics: missing }, "topics that are to be read are not there");
  }

  #begun(partitions: number): void {
    this.#failures.works();
    this.#standstills.report();
    this.#context.log.info({ topics: this.#config.topics, group: this.#group, partitions }, "reading");
  }

  /** A group that waits for its members must not look like one that reads. */
  #waitsFor(what: string): void {
    this.#notReading(new Error(`joining group "${this.#group}" waits for ${what}`), {});
  }

  #notReading(error: unknown, fields: object): void {
    this.#context.report?.({ state: "degraded", reason: reasonOf(error) });
    this.#failures.failed("warn", error, { message: "no reading from Kafka", fields });
  }
}

async function orAborted(work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  let stopListening = () => {};
  const ended = new Promise<void>((resolve) => {
    stopListening = onAbort(signal, resolve);
  });
  await Promise.race([work, ended]);
  stopListening();
}
