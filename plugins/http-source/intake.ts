import { type Refused, reasonOf, type SourceContext } from "deneb/sdk";
import { Acceptances } from "./acceptances.js";
import type { HttpConfig } from "./config.js";
import type { Exchange } from "./exchange.js";
import { answerOf, noToken, type Refusal } from "./refusal.js";
import { tokenCheck } from "./token-check.js";

export type IntakeContext = Pick<SourceContext<unknown>, "name" | "log" | "now" | "receive" | "refused">;

/** Hands requests to the agent and their answers back to the senders. */
export class Intake {
  readonly #config: HttpConfig;
  readonly #context: IntakeContext;
  readonly #hasToken: ReturnType<typeof tokenCheck>;
  readonly #acceptances = new Acceptances((exchange, error) => this.failed(exchange, error));
  #unanswered = 0;
  #idle: (() => void) | undefined;

  constructor(config: HttpConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
    this.#hasToken = tokenCheck(config.token);
  }

  /** Answers a request whose body is there; does not reject. */
  async serve(exchange: Exchange): Promise<void> {
    const { method, path, headers, body } = exchange;
    if (!this.#hasToken(headers)) return this.refuse(exchange, noToken);
    this.#unanswered += 1;
    try {
      const request = { method, path, headers, body, receivedAt: this.#context.now() };
      const { accepted } = await this.#context.receive(request, (refused) => this.#answer(exchange, refused));
      if (accepted) this.#acceptances.add(exchange);
    } catch (error) {
      // A handler from elsewhere may refuse with a status or a header that HTTP does not know.
      this.failed(exchange, error);
    }
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#idle?.();
  }

  /** Whether these headers carry a token, where one is asked for. */
  admits(headers: Exchange["headers"]): boolean {
    return this.#hasToken(headers);
  }

  /** Answers a request with what the source itself has against it. */
  refuse(exchange: Exchange, refusal: Refusal): void {
    try {
      const responseBytes = exchange.refuse(refusal);
      this.count(refusal, { requestBytes: exchange.body.byteLength, responseBytes });
    } catch (error) {
      this.failed(exchange, error);
    }
  }

  /** Counts what was refused, also where no request could be read. */
  count({ status, cause, reason }: Refusal, bytes: { requestBytes?: number; responseBytes?: number } = {}): void {
    this.#context.refused({ status, cause, reason, ...bytes });
  }

  /** Resolves when all requests are answered, or the signal aborts. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    if (this.#unanswered === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** For an answer that cannot be written: the sender sees its connection break. */
  failed(exchange: Pick<Exchange, "destroy">, error: unknown): void {
    this.#context.log.error({ reason: reasonOf(error) }, "answering failed");
    exchange.destroy();
  }

  #answer(exchange: Exchange, refused: Refused): number {
    return exchange.refuse(answerOf(refused, this.#config.retry_after));
  }
}
