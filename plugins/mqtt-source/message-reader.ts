import { eventHeaders } from "deneb/ngsi";
import { HeldInput, type InboundRequest, pause, type Refused, receiveUntilTaken, type SourceContext } from "deneb/sdk";
import type { MqttConfig } from "./config.js";
import { type Content, contentOf, faultyField } from "./envelope.js";
import { type Origin, originOf } from "./topics.js";

export type MqttContext = Pick<SourceContext<unknown>, "name" | "log" | "now" | "receive" | "refused" | "report">;

export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
}

/** Hands messages to the kernel, and repeats those for which the channels have no room. */
export class MessageReader {
  readonly #config: MqttConfig;
  readonly #context: MqttContext;
  readonly #held: HeldInput;

  constructor(config: MqttConfig, context: MqttContext) {
    this.#config = config;
    this.#context = context;
    this.#held = new HeldInput({ input: "message", log: context.log, retryMillis: config.channel_retry_interval });
  }

  /** True when the channels have the events of the message, or it was refused; false when the signal aborted before. */
  async read(message: Message, signal: AbortSignal): Promise<boolean> {
    if (this.#isTooLarge(message)) return true;
    const content = contentOf(message.payload);
    if (this.#isFaulty(message, content)) return true;
    const repeated = {
      receive: this.#context.receive,
      request: () => this.#requestOf(message, content),
      pause: (either: AbortSignal) => pause(this.#config.channel_retry_interval, either),
      held: (refused: Refused, attempt: number) => this.#held.held(refused, attempt, this.#about(message, content)),
    };
    const isDone = await receiveUntilTaken(repeated, signal);
    if (isDone) this.#held.taken();
    return isDone;
  }

  #isTooLarge({ topic, payload }: Message): boolean {
    const { max_message_size: most } = this.#config;
    const requestBytes = payload.byteLength;
    if (requestBytes <= most) return false;
    const reason = `The message is larger than ${most} bytes`;
    const service = this.#serviceOf(topic, {});
    this.#context.refused({ status: 413, cause: "content-too-large", reason, requestBytes, topic, service });
    return true;
  }

  #isFaulty({ topic }: Message, content: Content): boolean {
    const field = faultyField(content);
    if (field === undefined) return false;
    const reason = `The metadata field ${JSON.stringify(field)} holds a control character`;
    const about = { topic, service: this.#serviceOf(topic, content.fields) };
    this.#context.refused({ status: 400, cause: "metadata", reason, requestBytes: content.body.byteLength, ...about });
    return true;
  }

  #about({ topic }: Message, { fields }: Content): object {
    return { topic: shown(topic), service: shown(this.#serviceOf(topic, fields)) };
  }

  #requestOf({ topic }: Message, { body, fields }: Content): InboundRequest {
    const { notification_target: path, content_type } = this.#config;
    const headers = { "content-type": content_type, ...this.#headersOf(topic, fields) };
    return { method: "POST", path, headers, body, topic, receivedAt: this.#context.now() };
  }

  #serviceOf(topic: string, fields: Content["fields"]): string | undefined {
    return serviceIn(this.#headersOf(topic, fields));
  }

  #headersOf(topic: string, fields: Content["fields"]): Content["fields"] {
    return { ...this.#unnamedOrigin(fields), ...fields, ...headersOf(originOf(topic, this.#config.topic_pattern)) };
  }

  /** What is configured for messages that do not name it themselves. */
  #unnamedOrigin(fields: Content["fields"]): Readonly<Record<string, string>> {
    const { service, service_path } = this.#config;
    const isNamed = tenantFields.some((name) => (fields[name] ?? "") !== "");
    return headersOf({
      service: isNamed || service === "" ? undefined : service,
      servicePath: service_path === "" ? undefined : service_path,
    });
  }
}

const tenantFields = [eventHeaders.service, "ngsild-tenant"] as const;

function serviceIn(headers: Content["fields"]): string | undefined {
  return tenantFields.map((name) => headers[name]).find((service) => service !== undefined && service !== "");
}

const mostOfAText = 200;

/** A text of a sender as a log line shows it. */
function shown(text: string | undefined): string | undefined {
  return text?.slice(0, mostOfAText).replace(/\p{C}/gu, "\ufffd");
}

function headersOf({ service, servicePath }: Origin): Readonly<Record<string, string>> {
  return {
    ...(service === undefined ? {} : { [eventHeaders.service]: service }),
    ...(servicePath === undefined ? {} : { [eventHeaders.servicePath]: servicePath }),
  };
}
