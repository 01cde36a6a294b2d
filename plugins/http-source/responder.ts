import {
  acceptedAtOnce,
  onAbort,
  type Reception,
  type Refused,
  reasonOf,
  type SourceContext,
  type SourceRefusal,
} from "deneb/sdk";
import { AcceptedResponses } from "./accepted-responses.js";
import type { HttpConfig } from "./config.js";
import type { HttpRequest } from "./http-request.js";
import { noToken, type Refusal, refusalOf } from "./responses.js";
import { tokenCheck } from "./token-check.js";

export type HttpContext = Pick<SourceContext<unknown>, "name" | "log" | "now" | "receive" | "refused" | "report">;

/** Hands requests to the kernel and writes the responses. */
export class Responder {
  readonly #config: HttpConfig;
  readonly #context: HttpContext;
  readonly #hasToken: ReturnType<typeof tokenCheck>;
  readonly #accepted = new AcceptedResponses((request, error) => this.#failed(request, error));
  #unanswered = 0;
  #idle: (() => void) | undefined;

  constructor(config: HttpConfig, context: HttpContext) {
    this.#config = config;
    this.#context = context;
    this.#hasToken = tokenCheck(config.token);
  }

  /** Responds to a request whose body was read; does not reject. */
  serve(request: HttpRequest): void {
    if (!this.#hasToken(request.headers)) {
      this.refuse(request, noToken);
      return;
    }
    this.#unanswered += 1;
    const { method, path, headers, body } = request;
    const inbound = { method, path, headers, body, receivedAt: this.#context.now(), connection: request };
    const receiving = this.#context.receive(inbound, (refused) => this.#respond(request, refused));
    if (receiving === acceptedAtOnce) this.#served(request, true);
    else this.#serving(request, receiving);
  }

  /** No async function: one would take twice the memory, for each request that waits for a channel. */
  #serving(request: HttpRequest, receiving: Promise<Reception>): void {
    void receiving.then(
      ({ accepted }) => this.#served(request, accepted),
      (error) => {
        // A handler of another plugin may refuse with a status or a header that HTTP does not allow.
        this.#failed(request, error);
        this.#served(request, false);
      },
    );
  }

  #served(request: HttpRequest, isAccepted: boolean): void {
    if (isAccepted) this.#accepted.add(request);
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#idle?.();
  }

  /** Whether these headers carry a token, where one is required. */
  admits(headers: HttpRequest["headers"]): boolean {
    return this.#hasToken(headers);
  }

  /** Responds with a refusal of the source itself. */
  refuse(request: HttpRequest, refusal: Refusal): void {
    const { path, headers, body } = request;
    try {
      const responseBytes = request.refuse(refusal);
      const service = headers["fiware-service"] ?? headers["ngsild-tenant"];
      this.count(refusal, { requestBytes: body.byteLength, responseBytes, path, service });
    } catch (error) {
      this.#failed(request, error);
    }
  }

  /** Counts a refusal, also one where no request could be read. */
  count({ status, cause, reason }: Refusal, request: Omit<SourceRefusal, keyof Refusal> = {}): void {
    this.#context.refused({ status, cause, reason, ...request });
  }

  /** Resolves when every request has its response, or the signal aborts. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    if (this.#unanswered === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const stopListening = onAbort(signal, resolve);
      this.#idle = () => {
        stopListening();
        resolve();
      };
    });
  }

  /** The response cannot be written: the connection is closed without one. */
  #failed(request: HttpRequest, error: unknown): void {
    this.#context.log.error({ reason: reasonOf(error) }, "response not written");
    request.destroy();
  }

  #respond(request: HttpRequest, refused: Refused): number {
    return request.refuse(refusalOf(refused, this.#config.retry_after));
  }
}
