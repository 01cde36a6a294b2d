import { setTimeout as delay } from "node:timers/promises";
import { eventHeaders } from "deneb/ngsi";
import type { InboundRequest, Refused, RequestOrigin, SourceContext } from "deneb/sdk";
import type { FetchedRecord } from "../client/fetching.js";
import type { KafkaSourceConfig } from "./config.js";
import { type Fields, fieldsOf, unreadableTenant, withDefaults } from "./record-request.js";

export type KafkaSourceContext = Pick<
  SourceContext<unknown>,
  "name" | "log" | "now" | "receive" | "refused" | "metrics" | "report"
>;

/** A record and the topic that it is of. */
export interface TopicRecord {
  readonly topic: string;
  readonly record: FetchedRecord;
  /** Names the partition. */
  readonly of: string;
}

/** Attempts for a record whose error does not say whether it is retryable; then the record, which may be the cause, is refused. */
const MOST_ATTEMPTS = 10;

/** Hands records to the kernel, and repeats those for which the channels have no room. */
export class RecordReader {
  readonly #config: KafkaSourceConfig;
  readonly #context: KafkaSourceContext;

  constructor(config: KafkaSourceConfig, context: KafkaSourceContext) {
    this.#config = config;
    this.#context = context;
  }

  /** True when the channels have the events of the record, or it was refused; false when the signal aborted before. */
  async read(read: TopicRecord, signal: AbortSignal): Promise<boolean> {
    const fields = withDefaults(fieldsOf(read.record), this.#config);
    if (this.#isFaulty(read, fields)) return true;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      if (await this.#isDone(this.#requestOf(read, fields), attempt)) return true;
      await pause(this.#config.channel_retry_interval, signal);
    }
    return false;
  }

  #isFaulty({ topic, record }: TopicRecord, fields: Fields): boolean {
    const { max_message_size: most } = this.#config;
    const requestBytes = record.value?.byteLength ?? 0;
    const about = { requestBytes, topic, service: fields[eventHeaders.service] };
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

  #requestOf({ topic, record, of }: TopicRecord, headers: Fields): InboundRequest {
    const origin: RequestOrigin = { of, offset: record.offset };
    const body = record.value ?? new Uint8Array();
    const path = this.#config.notification_target;
    return { method: "POST", path, headers, body, topic, receivedAt: this.#context.now(), origin };
  }

  async #isDone(request: InboundRequest, attempt: number): Promise<boolean> {
    let held = false;
    await this.#context.receive(request, (refused) => {
      held = isToBeRepeated(refused, attempt);
      if (!held) return 0;
      const { status, cause, reason } = refused;
      const about = { topic: request.topic, offset: request.origin?.offset };
      const level = attempt === 1 ? "warn" : "debug";
      this.#context.log[level]({ attempt, status, cause, ...about, reason }, "record held until the channels take it");
      return undefined;
    });
    return !held;
  }
}

/** A service that sent more than it may: to hold its record would hold those of all others behind it. */
const TOO_MANY = 429;

function isToBeRepeated({ status, retryable }: Refused, attempt: number): boolean {
  if (status === TOO_MANY) return false;
  return retryable ?? attempt < MOST_ATTEMPTS;
}

async function pause(millis: number, signal: AbortSignal): Promise<void> {
  await delay(millis, undefined, { signal }).catch(() => undefined);
}
