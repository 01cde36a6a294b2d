import { setTimeout as delay } from "node:timers/promises";
import { eventHeaders } from "deneb/ngsi";
import type { InboundRequest, Refused, SourceContext } from "deneb/sdk";
import type { MqttConfig } from "./config.js";
import { originOf } from "./topics.js";

export type MqttContext = Pick<SourceContext<unknown>, "name" | "log" | "now" | "receive" | "refused">;

export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
}

/** Attempts for a message whose error does not say whether it is retryable; then the message, which may be the cause, is refused. */
const mostAttemptsOfOtherErrors = 10;

/** Hands messages to the kernel, and repeats those for which the channels have no room. */
export class MessageReader {
  readonly #config: MqttConfig;
  readonly #context: MqttContext;

  constructor(config: MqttConfig, context: MqttContext) {
    this.#config = config;
    this.#context = context;
  }

  /** True when the channels have the events of the message, or it was refused; false when the signal aborted before. */
  async read(message: Message, signal: AbortSignal): Promise<boolean> {
    if (this.#isTooLarge(message)) return true;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      if (await this.#isDone(message, attempt)) return true;
      await pause(this.#config.channel_retry_interval, signal);
    }
    return false;
  }

  #isTooLarge({ payload }: Message): boolean {
    const { max_message_size: most } = this.#config;
    const requestBytes = payload.byteLength;
    if (requestBytes <= most) return false;
    const reason = `The message is larger than ${most} bytes`;
    this.#context.refused({ status: 413, cause: "content-too-large", reason, requestBytes });
    return true;
  }

  async #isDone(message: Message, attempt: number): Promise<boolean> {
    let held = false;
    await this.#context.receive(this.#requestOf(message), (refused) => {
      held = isToBeRepeated(refused, attempt);
      if (!held) return 0;
      const { status, cause, reason } = refused;
      const level = attempt === 1 ? "warn" : "debug";
      this.#context.log[level]({ attempt, status, cause, reason }, "message held until the channels take it");
      return undefined;
    });
    return !held;
  }

  #requestOf({ topic, payload: body }: Message): InboundRequest {
    const { notification_target: path, content_type } = this.#config;
    const headers = { "content-type": content_type, ...this.#origin(topic) };
    return { method: "POST", path, headers, body, receivedAt: this.#context.now() };
  }

  #origin(topic: string): Readonly<Record<string, string>> {
    const named = originOf(topic, this.#config.topic_pattern);
    const service = named.service ?? this.#config.service;
    const servicePath = named.servicePath ?? this.#config.service_path;
    return {
      ...(service === "" ? {} : { [eventHeaders.service]: service }),
      ...(servicePath === "" ? {} : { [eventHeaders.servicePath]: servicePath }),
    };
  }
}

function isToBeRepeated({ retryable }: Refused, attempt: number): boolean {
  return retryable ?? attempt < mostAttemptsOfOtherErrors;
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
