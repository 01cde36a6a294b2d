import type { IncomingMessage, ServerResponse } from "node:http";
import { type Handler, reasonOf, type SourceContext } from "deneb/sdk";
import { answerAccepted, answerRefused } from "./answer.js";
import type { HttpConfig } from "./config.js";
import { deliveryOf } from "./delivery.js";
import { type Refusal, refusalOf } from "./refusal.js";
import { readBody } from "./request-body.js";

export type IntakeContext = SourceContext<{ readonly handler: Handler }>;

interface Sender {
  readonly service: string;
  readonly servicePath: string;
}

/** Whose request it was is known once the handler has accepted it. */
const unknownSender: Sender = { service: "", servicePath: "/" };

const noBody = new Uint8Array(0);

/** Carries one request to the channels and its answer back. */
export class Intake {
  readonly #config: HttpConfig;
  readonly #context: IntakeContext;

  constructor(config: HttpConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
  }

  /** Rejects only when the answer itself cannot be written. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const context = this.#context;
    let sender = unknownSender;
    let requestBytes = 0;
    let refusal: Refusal | undefined;
    try {
      const body = request.method === "POST" ? await readBody(request, this.#config.max_body_size) : noBody;
      if (body === undefined) return context.log.debug({}, "request abandoned by its sender");
      requestBytes = body.byteLength;
      const decoded = context.slots.handler.decode(deliveryOf(request, body, context.now()));
      sender = decoded;
      await context.emit(decoded.events);
    } catch (error) {
      refusal = this.#refuse(error);
    }
    const responseBytes = refusal === undefined ? answerAccepted(response) : answerRefused(request, response, refusal);
    const { service, servicePath } = sender;
    context.incoming({ service, servicePath, requestBytes, responseBytes, failed: refusal !== undefined });
  }

  #refuse(error: unknown): Refusal {
    const { log } = this.#context;
    const refusal = refusalOf(error, this.#config.retry_after);
    if (refusal.status === 500) log.error({ reason: reasonOf(error) }, "request failed");
    else log.debug({ status: refusal.status, reason: refusal.reason }, "request refused");
    return refusal;
  }
}
