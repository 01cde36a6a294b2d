import type { IncomingMessage, ServerResponse } from "node:http";
import { type Handler, reasonOf, type Sender, type SourceContext } from "deneb/sdk";
import { Acceptances } from "./acceptances.js";
import { answerRefused } from "./answer.js";
import type { HttpConfig } from "./config.js";
import { deliveryOf } from "./delivery.js";
import { type Refusal, refusalOf, senderOf } from "./refusal.js";
import { readBody } from "./request-body.js";
import { tokenCheck } from "./token-check.js";

export type IntakeContext = SourceContext<{ readonly handler: Handler }>;

/** Whose request it was is known once the handler has looked at it. */
const unknownSender: Sender = { service: "", servicePath: "/" };

const noBody = new Uint8Array(0);

/** Carries one request to the channels and its answer back. */
export class Intake {
  readonly #config: HttpConfig;
  readonly #context: IntakeContext;
  readonly #checkToken: ReturnType<typeof tokenCheck>;
  readonly #acceptances = new Acceptances((response, error) => this.failed(response, error));

  constructor(config: HttpConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
    this.#checkToken = tokenCheck(config.token);
  }

  /** Rejects only when the answer itself cannot be written. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const context = this.#context;
    const arrivedAt = context.now();
    let sender = unknownSender;
    let requestBytes = 0;
    let refusal: Refusal | undefined;
    try {
      this.#checkToken(request);
      const body = request.method === "POST" ? await readBody(request, this.#config.max_body_size) : noBody;
      if (body === undefined) return context.log.debug({}, "request abandoned by its sender");
      requestBytes = body.byteLength;
      const decoded = context.slots.handler.decode(deliveryOf(request, body, context.now()));
      sender = decoded;
      await context.emit(decoded.events);
    } catch (error) {
      refusal = this.#refuse(error);
      sender = senderOf(error) ?? sender;
    }
    const responseBytes =
      refusal === undefined ? this.#acceptances.answer(response) : answerRefused(request, response, refusal);
    const { service, servicePath } = sender;
    const milliseconds = Math.max(0, context.now().getTime() - arrivedAt.getTime());
    context.incoming({
      service,
      servicePath,
      requestBytes,
      responseBytes,
      failed: refusal !== undefined,
      milliseconds,
    });
  }

  /** For an answer that cannot be written: the sender sees its connection break. */
  failed(response: ServerResponse, error: unknown): void {
    this.#context.log.error({ reason: reasonOf(error) }, "answering failed");
    response.destroy();
  }

  #refuse(error: unknown): Refusal {
    const { log } = this.#context;
    const refusal = refusalOf(error, this.#config.retry_after);
    if (refusal.status === 500) log.error({ reason: reasonOf(error) }, "request failed");
    else log.debug({ status: refusal.status, reason: refusal.reason }, "request refused");
    return refusal;
  }
}
