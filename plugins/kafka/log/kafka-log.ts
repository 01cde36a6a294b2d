import type {
  Appended,
  Bounds,
  LogFacts,
  LogPart,
  LogRecord,
  LogSettings,
  PartitionedLog,
  ReadLimits,
} from "deneb/log";
import { AgentError, type Examiner, onAbort, type Probe } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { Directory, type Place, REMADE } from "../client/directory.js";
import type { Fetched } from "../client/fetching.js";
import { KafkaError, type KafkaErrorKind } from "../client/kafka-error.js";
import { deleteRecords, readExtents } from "../client/offsets.js";
import { openCluster } from "../client/open-cluster.js";
import { Producer } from "../client/producer.js";
import { Reader } from "../client/reader.js";
import { QUOTA } from "../client/throttling.js";
import type { KafkaLogConfig } from "../config.js";
import { kafkaLogProbes } from "./log-probes.js";
import { openTopics, settingsOfTopics, type TopicNames, topicNames } from "./open-topics.js";

interface Opened {
  readonly cluster: KafkaCluster;
  readonly directory: Directory;
  readonly producer: Producer;
  /** Reads of parts with numbers, and of the others. */
  readonly events: Reader;
  readonly others: Reader;
  readonly partitions: number;
  /** What somebody may change meanwhile. */
  largestRecord: number;
}

/** A log in three topics of Kafka: that of the events with their partitions, one for the agents, one for dead letters. */
export class KafkaLog implements PartitionedLog {
  readonly #config: KafkaLogConfig;
  readonly #component: string;
  readonly #topics: TopicNames;
  #opened: Opened | undefined;

  /** `component` is named in messages about certificate files. */
  constructor(config: KafkaLogConfig, component: string) {
    this.#config = config;
    this.#component = component;
    this.#topics = topicNames(config);
  }

  async open(signal: AbortSignal): Promise<LogFacts> {
    this.#close();
    const doing = "opening the log in Kafka";
    return await this.#named(doing, async () => {
      signal.throwIfAborted();
      const cluster = await openCluster(this.#config, this.#component, signal);
      const stopListening = onAbort(signal, () => cluster.close());
      try {
        const { metadata, facts } = await openTopics(cluster, this.#config);
        const directory = new Directory(cluster, metadata);
        const options = { isolation: "read_uncommitted", bearableMillis: cluster.callMillis } as const;
        this.#opened = {
          cluster,
          directory,
          producer: new Producer(cluster, directory),
          events: new Reader(cluster, directory, { ...options, purpose: "events" }),
          others: new Reader(cluster, directory, { ...options, purpose: "others" }),
          partitions: facts.partitions,
          largestRecord: facts.largestRecord,
        };
        return facts;
      } catch (error) {
        cluster.close();
        throw error;
      } finally {
        stopListening();
      }
    });
  }

  async settings(): Promise<LogSettings> {
    const opened = this.#open();
    const found = await this.#named("reading the settings of the log", async () => {
      return await settingsOfTopics(opened.cluster, this.#config, opened.partitions);
    });
    opened.largestRecord = found.largestRecord;
    return opened.cluster.throttling.isRecent ? { ...found, warnings: [...found.warnings, QUOTA] } : found;
  }

  async append(part: LogPart, value: Uint8Array, name?: string): Promise<Appended> {
    const { producer, largestRecord } = this.#open();
    if (value.length > largestRecord) {
      const limit = `it has ${value.length} bytes, and the largest record of topic "${this.#topics.events}" ${largestRecord}; a larger max.message.bytes of the topic allows more`;
      throw new AgentError("RECORD_TOO_LARGE", `${appendingTo(part)}: ${limit}`, { retryable: false });
    }
    try {
      const message = { value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) };
      const offset = await producer.write(this.#place(part), [message], name);
      // Each record has the next offset; marks of transactions of others, which have offsets, too, are read.
      return { offset, previous: offset - 1 };
    } catch (error) {
      throw logError(error, appendingTo(part));
    }
  }

  async read(
    from: ReadonlyMap<LogPart, number>,
    { bytes, waitMillis }: ReadLimits,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<LogPart, readonly LogRecord[]>> {
    const { events, others } = this.#open();
    const [first] = from.keys();
    const reader = typeof first === "number" ? events : others;
    const positions = [...from].map(([part, offset]) => ({ ...this.#place(part), offset }));
    return await this.#named("reading the log", async () => {
      const fetched = await reader.read(positions, { bytes, waitMillis, signal });
      return new Map(fetched.map((found) => [this.#part(found), recordsOf(found)] as const));
    });
  }

  async bounds(parts: readonly LogPart[]): Promise<ReadonlyMap<LogPart, Bounds>> {
    const { cluster, directory } = this.#open();
    const places = parts.map((part) => this.#place(part));
    return await this.#named("reading the bounds of the log", async () => {
      const extents = await readExtents(cluster, directory, places);
      return new Map(
        extents.map((extent) => [this.#part(extent), { first: extent.first, next: extent.next }] as const),
      );
    });
  }

  async trim(before: ReadonlyMap<LogPart, number>): Promise<void> {
    const { cluster, directory } = this.#open();
    const positions = [...before].map(([part, offset]) => ({ ...this.#place(part), offset }));
    if (positions.length === 0) return;
    await this.#named("trimming the log", async () => await deleteRecords(cluster, directory, positions));
  }

  async close(_signal: AbortSignal): Promise<void> {
    this.#close();
  }

  probes(examiner: Examiner): readonly Probe[] {
    return kafkaLogProbes(this.#config, this.#component, examiner);
  }

  #close(): void {
    this.#opened?.events.cancel();
    this.#opened?.others.cancel();
    this.#opened?.cluster.close();
    this.#opened = undefined;
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    throw new AgentError("LOG_UNAVAILABLE", "using the log in Kafka: it is not open", { retryable: true });
  }

  #place(part: LogPart): Place {
    if (typeof part === "number") return { topic: this.#topics.events, partition: part };
    return { topic: this.#topics[part], partition: 0 };
  }

  #part({ topic, partition }: Place): LogPart {
    if (topic === this.#topics.agents) return "agents";
    return topic === this.#topics.letters ? "letters" : partition;
  }

  async #named<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw logError(error, doing);
    }
  }
}

/** Without the size of a record: each refusal would be another cause to log. */
function appendingTo(part: LogPart): string {
  return `appending to part ${part} of the log`;
}

function recordsOf({ records, marks }: Fetched): readonly LogRecord[] {
  const found: LogRecord[] = records.map(({ offset, value }) => ({ offset, value: value ?? new Uint8Array() }));
  if (marks.length === 0) return found;
  for (const offset of marks) found.push({ offset, value: new Uint8Array(), mark: true });
  return found.sort((one, other) => one.offset - other.offset);
}

const codes: Readonly<Record<KafkaErrorKind, { readonly code: string; readonly retryable: boolean }>> = {
  unavailable: { code: "LOG_UNAVAILABLE", retryable: true },
  offset: { code: "LOG_UNAVAILABLE", retryable: true },
  full: { code: "LOG_FULL", retryable: true },
  denied: { code: "LOG_DENIED", retryable: false },
  "too-large": { code: "RECORD_TOO_LARGE", retryable: false },
  settings: { code: "LOG_SETTINGS", retryable: false },
};

/** The error of the log for one of the client; errors of the agent stay as they are. */
function logError(error: unknown, doing: string): unknown {
  if (!(error instanceof KafkaError)) return error;
  if (error.isUnanswered) {
    const message = `${doing}: ${error.message}; whether the record is in the topic is not known`;
    return new AgentError("LOG_UNANSWERED", message, { retryable: true, cause: error });
  }
  const { code, retryable } = codes[error.kind];
  const remedy = error.id === REMADE ? "; restart the agents, which then use the new one" : "";
  return new AgentError(code, `${doing}: ${error.message}${remedy}`, { retryable, cause: error });
}
