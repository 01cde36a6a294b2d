import { type Handler, reasonOf, type Sender, type SourceContext } from "deneb/sdk";
import { Acceptances } from "./acceptances.js";
import type { HttpConfig } from "./config.js";
import type { Exchange } from "./exchange.js";
import { type Refusal, refusalOf, senderOf } from "./refusal.js";
import { tokenCheck } from "./token-check.js";

export type IntakeContext = SourceContext<{ readonly handler: Handler }>;

/** Whose request it was is known once the handler has looked at it. */
const unknownSender: Sender = { service: "", servicePath: "/" };

const noBody = new Uint8Array(0);

/** Carries requests to the channels and their answers back. */
export class Intake {
  readonly #config: HttpConfig;
  readonly #context: IntakeContext;
  readonly #checkToken: ReturnType<typeof tokenCheck>;
  readonly #acceptances = new Acceptances((exchange, error) => this.failed(exchange, error));

  constructor(config: HttpConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
    this.#checkToken = tokenCheck(config.token);
  }

  /** Rejects only when the answer itself cannot be written. */
  async serve(exchange: Exchange): Promise<void> {
    const context = this.#context;
    const arrivedAt = context.now();
    let sender = unknownSender;
    let requestBytes = 0;
    let refusal: Refusal | undefined;
    try {
      const { method, path, headers } = exchange;
      this.#checkToken(headers);
      const read = method === "POST" ? exchange.body(this.#config.max_body_size) : noBody;
      const body = read instanceof Promise ? await read : read;
      if (body === undefined) return context.log.debug({}, "request abandoned by its sender");
      requestBytes = body.byteLength;
      const decoded = context.slots.handler.decode({ method, path, headers, body, receivedAt: context.now() });
      sender = decoded;
      await context.emit(decoded.events);
    } catch (error) {
      refusal = this.#refuse(error);
      sender = senderOf(error) ?? sender;
    }
    const responseBytes = refusal === undefined ? 0 : exchange.refuse(refusal);
    if (refusal === undefined) this.#acceptances.add(exchange);
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

  /** Whether these headers carry a token, where one is asked for. */
  admits(headers: Exchange["headers"]): boolean {
    try {
      this.#checkToken(headers);
      return true;
    } catch {
      return false;
    }
  }

  /** For an answer that cannot be written: the sender sees its connection break. */
  failed(exchange: Pick<Exchange, "destroy">, error: unknown): void {
    this.#context.log.error({ reason: reasonOf(error) }, "answering failed");
    exchange.destroy();
  }

  #refuse(error: unknown): Refusal {
    const { log } = this.#context;
    const refusal = refusalOf(error, this.#config.retry_after);
    if (refusal.status === 500) log.error({ reason: reasonOf(error) }, "request failed");
    else log.debug({ status: refusal.status, reason: refusal.reason }, "request refused");
    return refusal;
  }
}
