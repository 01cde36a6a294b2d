import { eventHeaders } from "deneb/ngsi";
import {
  HeldInput,
  type InboundRequest,
  pause,
  type Refused,
  type RequestOrigin,
  receiveUntilTaken,
  type SourceContext,
} from "deneb/sdk";
import type { FetchedRecord } from "../client/fetching.js";
import type { KafkaSourceConfig } from "./config.js";
import { type Fields, fieldsOf, unreadableTenant, withDefaults } from "./record-request.js";

export type KafkaSourceContext = Pick<
  SourceContext<unknown>,
  "name" | "log" | "now" | "receive" | "refused" | "metrics" | "report"
>;

/** A record and the topic that it is of. */
interface TopicRecord {
  readonly topic: string;
  readonly partition: number;
  readonly record: FetchedRecord;
  /** Names the log that the partition is now. */
  readonly of: string;
  /** Called when it has to wait for the channels. */
  held(): void;
}

/** Hands records to the kernel, and repeats those for which the channels have no room. */
export class RecordReader {
  readonly #config: KafkaSourceConfig;
  readonly #context: KafkaSourceContext;
  readonly #held: HeldInput;

  constructor(config: KafkaSourceConfig, context: KafkaSourceContext) {
    this.#config = config;
    this.#context = context;
    this.#held = new HeldInput({ input: "record", log: context.log, retryMillis: config.channel_retry_interval });
  }

  /** True when the channels have the events of the record, or it was refused; false when the signal aborted before. */
  async read(read: TopicRecord, signal: AbortSignal): Promise<boolean> {
    const fields = withDefaults(fieldsOf(read.record), this.#config);
    if (this.#isFaulty(read, fields)) return true;
    const repeated = {
      receive: this.#context.receive,
      request: () => this.#requestOf(read, fields),
      pause: (either: AbortSignal) => pause(this.#config.channel_retry_interval, either),
      held: (refused: Refused, attempt: number) => {
        this.#held.held(refused, attempt, { topic: read.topic, ...placeOf(read) });
        read.held();
      },
    };
    const isDone = await receiveUntilTaken(repeated, signal);
    if (isDone) this.#held.taken();
    return isDone;
  }

  #isFaulty(read: TopicRecord, fields: Fields): boolean {
    const { topic, record } = read;
    const { max_message_size: most } = this.#config;
    const requestBytes = record.value?.byteLength ?? 0;
    const about = { requestBytes, topic, place: placeOf(read), service: fields[eventHeaders.service] };
    if (requestBytes > most) {
      const reason = `The record is larger than ${most} bytes`;
      this.#context.refused({ status: 413, cause: "content-too-large", reason, ...about });
      return true;
    }
    const unreadable = unreadableTenant(record);
    if (unreadable === undefined) return false;
    const reason = `The header "${unreadable}" of the record is no text`;
    this.#context.refused({ status: 400, cause: "metadata", reason, ...about });
    return true;
  }

  #requestOf(read: TopicRecord, headers: Fields): InboundRequest {
    const { topic, record, of } = read;
    const origin: RequestOrigin = { of, offset: record.offset };
    const body = record.value ?? new Uint8Array();
    const path = this.#config.notification_target;
    const at = { topic, place: placeOf(read), receivedAt: this.#context.now(), origin };
    return { method: "POST", path, headers, body, ...at };
  }
}

/** By which a tool of Kafka finds a record that was refused. */
function placeOf({ partition, record: { offset } }: TopicRecord) {
  return { partition, offset };
}
