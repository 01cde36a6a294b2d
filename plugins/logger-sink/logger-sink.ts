import type { Batch, Context, Logger, Probe, Receipt, Sink } from "deneb/sdk";
import type { LoggerConfig } from "./config.js";

const nothingSent: Receipt = { requestBytes: 0, responseBytes: 0 };

export class LoggerSink implements Sink {
  readonly #show: LoggerConfig["show"];
  readonly #log: Logger;

  constructor(config: LoggerConfig, context: Context) {
    this.#show = config.show;
    this.#log = context.log;
  }

  /** It needs nothing. */
  probes(): readonly Probe[] {
    return [];
  }

  async start(): Promise<void> {}

  async persist({ events }: Batch): Promise<Receipt> {
    const count = { events: events.length };
    const fields = this.#show === "count" ? count : { ...count, entities: events.map(({ body }) => entityName(body)) };
    this.#log.info(fields, "batch received");
    return nothingSent;
  }

  async stop(): Promise<void> {}
}

/** Undefined for an event without an entity. */
function entityName(body: unknown): { id: string; type: string } | undefined {
  if (typeof body !== "object" || body === null || !("id" in body) || !("type" in body)) return undefined;
  const { id, type } = body;
  return typeof id === "string" && typeof type === "string" ? { id, type } : undefined;
}
