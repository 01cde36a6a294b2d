import { createHash, timingSafeEqual } from "node:crypto";
import { getHeapStatistics } from "node:v8";
import {
  acceptedAtOnce,
  onAbort,
  type Reception,
  type Refused,
  reasonOf,
  type SourceContext,
  type SourceRefusal,
} from "deneb/sdk";
import type { HttpConfig } from "./config.js";
import type { HttpRequest } from "./http-request.js";
import { noToken, type Refusal, refusalOf } from "./responses.js";

export type HttpContext = Pick<SourceContext<unknown>, "name" | "log" | "now" | "receive" | "refused" | "report">;

/** Of the heap limit, as in the kernel: what waits here for its turn can be discarded when its sender leaves. */
const SHARE_OF_HEAP = 1 / 128;
/** Bytes of bodies that waited after which the event loop goes on before the next one. */
const BYTES_OF_A_TURN = 65_536;

/** Hands requests to the kernel and writes the responses. */
export class Responder {
  readonly #config: HttpConfig;
  readonly #context: HttpContext;
  readonly #hasToken: ReturnType<typeof tokenCheck>;
  readonly #accepted = new AcceptedResponses((request, error) => this.#failed(request, error));
  readonly #turns: BodyTurns;
  #unanswered = 0;
  #idle: (() => void) | undefined;

  constructor(config: HttpConfig, context: HttpContext, turns: BodyTurns = bodyTurns) {
    this.#config = config;
    this.#context = context;
    this.#turns = turns;
    this.#hasToken = tokenCheck(config.token);
  }

  /** Responds to a request whose body was read; does not reject. */
  serve(request: HttpRequest): void {
    if (!this.#hasToken(request.headers)) {
      this.refuse(request, noToken);
      return;
    }
    this.#unanswered += 1;
    const receivedAt = this.#context.now();
    const { byteLength } = request.body;
    if (this.#turns.hasRoom(byteLength)) this.#receive(request, receivedAt);
    else this.#turns.wait(byteLength, () => this.#waited(request, receivedAt));
  }

  /** The body of a sender that has left meanwhile is gone, as one that is not complete. */
  #waited(request: HttpRequest, receivedAt: Date): void {
    if (request.isGone) this.#served(request, false);
    else this.#receive(request, receivedAt);
  }

  #receive(request: HttpRequest, receivedAt: Date): void {
    const { method, path, headers, body } = request;
    const inbound = { method, path, headers, body, receivedAt };
    const receiving = this.#context.receive(inbound, (refused) => this.#respond(request, refused));
    if (receiving === acceptedAtOnce) this.#served(request, true);
    else void this.#serving(request, receiving);
  }

  async #serving(request: HttpRequest, receiving: Promise<Reception>): Promise<void> {
    const { byteLength } = request.body;
    this.#turns.took(byteLength);
    let isAccepted = false;
    try {
      isAccepted = (await receiving).accepted;
    } catch (error) {
      // A handler of another plugin may refuse with a status or a header that HTTP does not allow.
      this.#failed(request, error);
    }
    this.#turns.gave(byteLength);
    this.#served(request, isAccepted);
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

/**
 * The bodies that are decoded and have no response yet, of all sources of the process, by their bytes. A body that has no room
 * waits for its turn as it came, outside of the heap; one alone has room whatever its size. None overtakes one that waits.
 */
export class BodyTurns {
  readonly #most: number;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  #decoded = 0;
  #isGoingOn = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a body may be decoded now. */
  hasRoom(bytes: number): boolean {
    return this.#waiting.length === 0 && this.#fits(bytes);
  }

  /** Calls `begin` when it is the turn of a body that has no room. */
  wait(bytes: number, begin: () => void): void {
    this.#waiting.push({ bytes, begin });
    this.#goOn();
  }

  /** A body was decoded, and its events wait. */
  took(bytes: number): void {
    this.#decoded += bytes;
  }

  /** That body has its response. */
  gave(bytes: number): void {
    this.#decoded -= bytes;
    this.#goOn();
  }

  #fits(bytes: number): boolean {
    return this.#decoded === 0 || this.#decoded + bytes <= this.#most;
  }

  /** Few in each turn of the event loop: to decode a large body takes long. */
  #goOn(): void {
    if (this.#isGoingOn || !this.#isNextReady()) return;
    this.#isGoingOn = true;
    setImmediate(() => {
      this.#isGoingOn = false;
      for (let begun = 0; begun < BYTES_OF_A_TURN && this.#isNextReady(); ) {
        const next = this.#waiting.shift();
        begun += next?.bytes ?? 0;
        next?.begin();
      }
      this.#goOn();
    });
  }

  #isNextReady(): boolean {
    const [next] = this.#waiting;
    return next !== undefined && this.#fits(next.bytes);
  }
}

/** Those of this process. */
export const bodyTurns = new BodyTurns(getHeapStatistics().heap_size_limit * SHARE_OF_HEAP);

type Acceptable = Pick<HttpRequest, "accept">;

/**
 * Writes the responses to accepted requests, those of one turn of the event loop together: a sender that sleeps is woken
 * by the first of them and works while the others are written (measured: docs/performance.md).
 */
export class AcceptedResponses<Accepted extends Acceptable = HttpRequest> {
  readonly #failed: (accepted: Accepted, error: unknown) => void;
  #waiting: Accepted[] = [];

  /** `failed` gets a response that could not be written; the others are written nevertheless. */
  constructor(failed: (accepted: Accepted, error: unknown) => void) {
    this.#failed = failed;
  }

  add(accepted: Accepted): void {
    this.#waiting.push(accepted);
    if (this.#waiting.length === 1) setImmediate(this.#write);
  }

  readonly #write = (): void => {
    const all = this.#waiting;
    this.#waiting = [];
    for (const accepted of all) {
      try {
        accepted.accept();
      } catch (error) {
        this.#failed(accepted, error);
      }
    }
  };
}

/** Creates the check whether a request carries one of the tokens; without tokens every request passes. */
function tokenCheck(tokens: readonly string[]): (headers: HttpRequest["headers"]) => boolean {
  if (tokens.length === 0) return () => true;
  const known = tokens.map(digest);
  return (headers) => {
    const given = givenTokens(headers).map(digest);
    // All are compared, in a time that does not depend on where they differ.
    const matches = given.flatMap((one) => known.map((token) => timingSafeEqual(token, one)));
    return matches.includes(true);
  };
}

function givenTokens(headers: HttpRequest["headers"]): readonly string[] {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "") ?? [];
  const header = headers["x-auth-token"];
  return [bearer, header].filter((token) => typeof token === "string");
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
