import type { Socket } from "node:net";
import type { BodyBudget } from "../body-budget.js";
import type { HttpRequest } from "../http-request.js";
import { noRoomForBody, type Refusal } from "../responses.js";
import type { HeadLimits, PlainHead } from "./plain-head.js";
import { PlainRequest, type ResponseWriter } from "./plain-request.js";
import { RepeatedHead } from "./repeated-head.js";

export interface ConnectionParts {
  readonly limits: HeadLimits;
  /** The last lines of the head of a response after which the connection stays open. */
  readonly keepAlive: string;
  /** Whether a sender with these headers may send a body before it gets a response. */
  admits(headers: HttpRequest["headers"]): boolean;
  readonly budget: BodyBudget;
  /** Takes a request whose body was read, and responds to it. */
  serve(request: HttpRequest): void;
  /** Refuses a request whose body was not read. */
  turnAway(request: HttpRequest, refusal: Refusal): void;
  /** Value of Retry-After, in seconds, when there is no room for a body. */
  readonly retryAfter: number;
  /** Gives the connection to the parser of Node; it has the bytes that were read and not used. */
  handOver(connection: PlainConnection): void;
  /** Called when the connection is closed. */
  closed(connection: PlainConnection): void;
}

/**
 * What a connection does: it has not sent anything, is between two requests, receives a body, waits for a response, or has its
 * last response and may still send, which is discarded.
 */
type Activity = "silent" | "idle" | "receiving" | "responding" | "ending";

/**
 * A connection whose requests are plain: they are read here, one at a time. The first one that is not plain goes, with the
 * connection, to the parser of Node, which keeps it: nothing but the plainest requests is read in two ways. The
 * connection holds the current request; the bytes behind it go back into the socket; everything else about a request is in {@link PlainRequest}.
 */
export class PlainConnection implements ResponseWriter {
  readonly socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #heads = new RepeatedHead();
  #request: PlainRequest | undefined;
  #activity: Activity = "silent";
  #since: number;
  #closing = false;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.socket = socket;
    this.#parts = parts;
    this.#since = performance.now();
    socket.on("data", this.#read);
    socket.on("end", this.#ended);
    socket.on("error", this.#broken);
    socket.on("close", this.#closed);
  }

  get activity(): Activity {
    return this.#activity;
  }

  /** When the activity began, by `performance.now()`; of no meaning while a request waits for its response, which has no time limit here. */
  get since(): number {
    return this.#since;
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  /** Closes the connection now, or after the response to the request that has begun. */
  close(): void {
    this.#closing = true;
    if (this.#activity === "silent" || this.#activity === "idle") this.socket.destroy();
  }

  closeAfterResponse(): void {
    this.#closing = true;
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Stops reading, before another reader begins. */
  leave(): void {
    this.socket.pause();
    this.socket.off("data", this.#read);
    this.socket.off("end", this.#ended);
    this.socket.off("error", this.#broken);
    this.socket.off("close", this.#closed);
  }

  /** Writes the whole response at once. A second response to a request is dropped. */
  respond(request: PlainRequest, head: string, content: string): void {
    if (request !== this.#request) return;
    request.release();
    if (!this.socket.writable) return;
    this.#request = undefined;
    const closing = this.#closing;
    const last = closing ? CLOSE : this.#parts.keepAlive;
    if (content === "") this.socket.write(withoutContent(head, last), "latin1");
    else this.socket.write(`${head}${last}\r\n${content}`, "utf8");
    if (closing) this.#end(request);
    else this.#next();
  }

  readonly #read = (bytes: Buffer): void => {
    if (this.#activity === "ending") return;
    if (this.#request === undefined) this.#begin(bytes);
    else if (this.#activity === "receiving") this.#receive(this.#request, bytes);
    else this.#putBack(bytes);
  };

  #begin(bytes: Buffer): void {
    // Of a sender that does not read its responses, which wait in memory, Node's parser reads no more until it does.
    const head = this.socket.writableNeedDrain ? undefined : this.#heads.read(bytes, this.#parts.limits);
    if (head !== undefined && this.#isWelcome(head, bytes)) this.#started(head, bytes);
    else {
      this.#putBack(bytes);
      this.#parts.handOver(this);
    }
  }

  #started(head: PlainHead, bytes: Buffer): void {
    const { bodyFrom, bodyTo, isLast } = head;
    const request = new PlainRequest(head, this, this.#parts.budget);
    this.#request = request;
    this.#closing ||= isLast;
    if (bodyTo > bytes.length) {
      this.#become("receiving");
      this.#receive(request, bytes.subarray(bodyFrom));
      return;
    }
    if (bodyTo < bytes.length) this.#putBack(bytes.subarray(bodyTo));
    request.complete(bytes.subarray(bodyFrom, bodyTo));
    this.#serve(request);
  }

  /** A sender that is refused anyway is refused before its body is awaited. */
  #isWelcome({ headers, bodyTo }: PlainHead, bytes: Buffer): boolean {
    return bodyTo <= bytes.length || this.#parts.admits(headers);
  }

  #receive(request: PlainRequest, bytes: Buffer): void {
    const { missing } = request;
    if (!request.add(bytes.subarray(0, missing))) {
      this.#parts.turnAway(request, noRoomForBody(this.#parts.retryAfter));
      return;
    }
    if (bytes.length > missing) this.#putBack(bytes.subarray(missing));
    if (request.missing === 0) this.#serve(request);
  }

  /**
   * A sender that does not wait for responses may send no more until its first request has one. Until the bytes are read again the
   * socket does not say either that the sender has ended its side.
   */
  #putBack(bytes: Buffer): void {
    this.socket.pause();
    this.socket.unshift(bytes);
  }

  #serve(request: PlainRequest): void {
    this.#activity = "responding";
    this.#parts.serve(request);
  }

  /** Closing while the sender still sends its body would reset the connection, and the response might be lost. */
  #end(request: PlainRequest): void {
    this.#become("ending");
    if (request.missing > 0) this.socket.end();
    else this.socket.destroySoon();
  }

  #next(): void {
    this.#become("idle");
    if (this.socket.isPaused()) this.#parts.handOver(this);
  }

  #become(activity: Activity): void {
    this.#activity = activity;
    this.#since = performance.now();
  }

  /** A sender that ends its side still gets the response to what it sent. */
  readonly #ended = (): void => {
    if (this.#activity === "responding") this.#closing = true;
    else if (this.#activity !== "ending") this.socket.destroy();
  };

  readonly #broken = (): void => {
    this.socket.destroy();
  };

  readonly #closed = (): void => {
    this.#request?.release();
    this.#parts.closed(this);
  };
}

const CLOSE = "Connection: close\r\n";

let written = { head: "", last: "", text: "" };

/** A response without content. Those of a second are the same, and a text that was joined once is written faster. */
function withoutContent(head: string, last: string): string {
  if (head !== written.head || last !== written.last) written = { head, last, text: `${head}${last}\r\n` };
  return written.text;
}
