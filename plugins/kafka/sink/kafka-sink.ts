import {
  AgentError,
  type Batch,
  type Context,
  codeOf,
  type Event,
  type Examiner,
  idOf,
  type Probe,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
} from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { connectionOptions } from "../client/connection-options.js";
import { REMADE } from "../client/directory.js";
import { KafkaError, type KafkaErrorKind } from "../client/kafka-error.js";
import { loadLibrary } from "../client/library.js";
import { openCluster } from "../client/open-cluster.js";
import { ProducerIdentities } from "../client/producer-identities.js";
import { counted } from "../counted.js";
import type { KafkaSinkConfig } from "./config.js";
import { entityRecord } from "./entity-record.js";
import { murmur2 } from "./murmur2.js";
import { type OpenTopic, openTopic } from "./open-topic.js";
import { isOfRecord, lanesOf, type Outbound, sizeOf, writeLane } from "./partition-writer.js";
import { sinkProbes } from "./sink-probes.js";
import { isVaried, parseTopic, type TopicTemplate } from "./topic-template.js";

/** Brokers and network set the pace of a write; larger ones cost less for each record. */
const LARGEST_BATCH = 2000;

/** Writes a record for each entity. */
export class KafkaSink implements Sink {
  readonly tuning = { largestBatch: LARGEST_BATCH };
  readonly #config: KafkaSinkConfig;
  readonly #context: Context;
  readonly #topic: TopicTemplate;
  readonly #stopping = new AbortController();
  #cluster: Promise<KafkaCluster> | undefined;
  #identities: ProducerIdentities | undefined;
  readonly #topics = new Map<string, Promise<OpenTopic>>();

  constructor(config: KafkaSinkConfig, context: Context) {
    this.#config = config;
    this.#context = context;
    this.#topic = parseTopic(config.topic);
  }

  probes(examiner: Examiner): readonly Probe[] {
    return sinkProbes(this.#config, this.#title, examiner);
  }

  /** What an operator must mend fails here; brokers that are away are waited for by the first write. */
  async start(): Promise<void> {
    await loadLibrary();
    await connectionOptions(this.#config, this.#title);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#topics.clear();
    const cluster = await this.#cluster?.catch(() => undefined);
    cluster?.close();
  }

  async persist(batch: Batch): Promise<Receipt> {
    const failures = new Map<Event, unknown>();
    const failed = (events: readonly Event[], error: unknown): void => {
      const told = agentErrorOf(error, "writing events", (failure) => this.#mayPass(failure));
      for (const event of events) failures.set(event, told);
    };
    const records = this.#recordsOf(batch, failed);
    const cluster = await this.#connected();
    const byTopic = groupedBy(records, ({ record }) => record.topic);
    await Promise.all([...byTopic].map(([topic, of]) => this.#writeTopic(cluster, { topic, records: of }, failed)));
    if (failures.size > 0) throw failureOf(batch, failures);
    return { requestBytes: records.reduce((sum, { record }) => sum + sizeOf(record), 0), responseBytes: 0 };
  }

  /** Brokers that are away, or let nobody in, say nothing about an event. */
  async answers(error: unknown): Promise<boolean | undefined> {
    return retryableOf(error) === true ? false : undefined;
  }

  #recordsOf(batch: Batch, failed: (events: readonly Event[], error: unknown) => void): readonly Outbound[] {
    const records: Outbound[] = [];
    for (const event of batch.events) {
      try {
        const record = entityRecord(event, { topic: this.#topic, config: this.#config, id: idOf(batch, event) });
        records.push({ event, record });
      } catch (error) {
        failed([event], error);
      }
    }
    return records;
  }

  async #writeTopic(
    cluster: KafkaCluster,
    { topic, records }: { readonly topic: string; readonly records: readonly Outbound[] },
    failed: (events: readonly Event[], error: unknown) => void,
  ): Promise<void> {
    try {
      const open = await this.#opened(cluster, topic);
      const lanes = lanesOf(records, open.partitions, murmur2);
      const noted = (events: readonly Event[], error: unknown): void => {
        // It may have been removed, or got more partitions: the next write looks.
        if (!isOfRecord(error)) this.#topics.delete(topic);
        failed(events, error);
      };
      await Promise.all(lanes.map((lane) => writeLane(lane, open, noted)));
    } catch (error) {
      failed(
        records.map(({ event }) => event),
        error,
      );
    }
  }

  async #opened(cluster: KafkaCluster, topic: string): Promise<OpenTopic> {
    this.#identities ??= new ProducerIdentities(cluster);
    const opening = { make: this.#config, identities: this.#identities };
    const known = this.#topics.get(topic) ?? openTopic(cluster, topic, opening);
    this.#topics.set(topic, known);
    try {
      return await known;
    } catch (error) {
      this.#topics.delete(topic);
      throw error;
    }
  }

  async #connected(): Promise<KafkaCluster> {
    const opening = this.#cluster ?? openCluster(this.#config, this.#title, this.#stopping.signal);
    this.#cluster = opening;
    try {
      const cluster = await opening;
      cluster.throttling.watch(this.#context.log);
      return cluster;
    } catch (error) {
      if (this.#cluster === opening) this.#cluster = undefined;
      throw passing(agentErrorOf(error, "connecting to Kafka", () => true));
    }
  }

  /**
   * What is wrong with a topic that depends on the event concerns the event; what is wrong with the only topic concerns every
   * event alike, so they wait until it is mended.
   */
  #mayPass(error: KafkaError): boolean {
    if (isOfRecord(error)) return false;
    // The next write is to the topic that is there now.
    if (error.id === REMADE) return true;
    const ofTopic = error.kind === "settings" || error.id === "TOPIC_AUTHORIZATION_FAILED";
    return !(ofTopic && isVaried(this.#topic));
  }

  get #title(): string {
    return `sink "${this.#context.name}"`;
  }
}

/** No event is to blame for it: files of certificates may be being replaced since the start has read them. */
function passing(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined || retryableOf(error) !== false) return error;
  return new AgentError(code, reasonOf(error), { retryable: true, cause: error });
}

/** The error of a batch of which these events failed. */
function failureOf({ events }: Batch, failures: ReadonlyMap<Event, unknown>): unknown {
  const [first] = failures.values();
  const passing = [...failures.values()].find((error) => retryableOf(error) !== false);
  if (failures.size === events.length && [...failures.values()].every((error) => retryableOf(error) === true))
    return first;
  const message = `writing ${counted(events.length, "event")} to Kafka: ${failures.size} of them failed`;
  return new AgentError("RECORDS_NOT_WRITTEN", message, {
    retryable: passing !== undefined,
    cause: passing ?? first,
    events: failures,
  });
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const codes: Readonly<Record<KafkaErrorKind, { readonly code: string }>> = {
  unavailable: { code: "KAFKA_UNAVAILABLE" },
  offset: { code: "KAFKA_UNAVAILABLE" },
  full: { code: "KAFKA_UNAVAILABLE" },
  denied: { code: "KAFKA_DENIED" },
  "too-large": { code: "RECORD_TOO_LARGE" },
  settings: { code: "KAFKA_SETTINGS" },
};

/** The error of the agent for one of the client; errors of the agent stay as they are. */
function agentErrorOf(error: unknown, doing: string, retryable: (error: KafkaError) => boolean): unknown {
  if (!(error instanceof KafkaError)) return error;
  const { code } = codes[error.kind];
  return new AgentError(code, `${doing}: ${error.message}`, { retryable: retryable(error), cause: error });
}
