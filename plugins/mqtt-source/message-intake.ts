import { setTimeout as delay } from "node:timers/promises";
import { eventHeaders } from "deneb/ngsi";
import { codeOf, type Decoded, type Handler, reasonOf, retryableOf, type SourceContext } from "deneb/sdk";
import type { MqttConfig } from "./config.js";
import { originOf } from "./topic-pattern.js";

export type IntakeContext = SourceContext<{ readonly handler: Handler }>;

export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
}

/** An error that does not say that it may pass is met this often, then the message is given up: it may be its cause. */
const mostTriesOfOtherErrors = 10;

/** Carries one message to the channels. */
export class MessageIntake {
  readonly #config: MqttConfig;
  readonly #context: IntakeContext;

  constructor(config: MqttConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
  }

  /** True when the message is done with: the channels have it, or it can never go in. False when the signal came first. */
  async take(message: Message, signal: AbortSignal): Promise<boolean> {
    const decoded = this.#decoded(message);
    if (decoded === undefined) {
      this.#account(message, { service: "", servicePath: "/" }, true);
      return true;
    }
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const error = await this.#emitted(decoded);
      if (error === undefined || this.#isGivenUp(error.thrown, attempt)) {
        this.#account(message, decoded, error !== undefined);
        return true;
      }
      await pause(this.#config.channel_retry_interval, signal);
    }
    return false;
  }

  #decoded({ topic, payload }: Message): Decoded | undefined {
    const { log, now, slots } = this.#context;
    const { notification_target: path, content_type } = this.#config;
    const headers = { "content-type": content_type, ...this.#origin(topic) };
    try {
      return slots.handler.decode({ method: "POST", path, headers, body: payload, receivedAt: now() });
    } catch (error) {
      const fields = { topic, reason: reasonOf(error) };
      if (codeOf(error) === "DELIVERY_REJECTED") log.debug(fields, "message refused");
      else log.error(fields, "message not understood and given up");
      return undefined;
    }
  }

  #origin(topic: string): Readonly<Record<string, string>> {
    const told = originOf(topic, this.#config.topic_pattern);
    const service = told.service ?? this.#config.service;
    const servicePath = told.servicePath ?? this.#config.service_path;
    return {
      ...(service === "" ? {} : { [eventHeaders.service]: service }),
      ...(servicePath === "" ? {} : { [eventHeaders.servicePath]: servicePath }),
    };
  }

  async #emitted({ events }: Decoded): Promise<{ readonly thrown: unknown } | undefined> {
    try {
      await this.#context.emit(events);
      return undefined;
    } catch (thrown) {
      return { thrown };
    }
  }

  #isGivenUp(error: unknown, attempt: number): boolean {
    const fields = { attempt, reason: reasonOf(error) };
    if (retryableOf(error) !== true && attempt >= mostTriesOfOtherErrors) {
      this.#context.log.error(fields, "message given up");
      return true;
    }
    const level = attempt === 1 ? "warn" : "debug";
    this.#context.log[level](fields, "message held until the channels take it");
    return false;
  }

  #account({ payload }: Message, { service, servicePath }: Omit<Decoded, "events">, failed: boolean): void {
    this.#context.incoming({ service, servicePath, requestBytes: payload.byteLength, responseBytes: 0, failed });
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
