import type { Socket } from "node:net";
import { dateText, headerLines, statusLine } from "./answer-head.js";
import type { BodyBudget } from "./body-budget.js";
import { errorContent } from "./error-content.js";
import type { Exchange } from "./exchange.js";
import { type HeadLimits, type PlainHead, plainHead } from "./plain-head.js";
import { noRoomForBody, type Refusal } from "./refusal.js";

export interface DirectParts {
  readonly limits: HeadLimits;
  /** The last lines of the head of an answer after which the connection stays open. */
  readonly keepAlive: string;
  /** Whether a sender with these headers may send a body before it is answered. */
  admits(headers: Exchange["headers"]): boolean;
  readonly budget: BodyBudget;
  /** Takes a request whose body is there, and answers it. */
  serve(exchange: Exchange): void;
  /** Refuses a request whose body is not there. */
  turnAway(exchange: Exchange, refusal: Refusal): void;
  /** Seconds that a sender is asked to wait when there is no room for its body. */
  readonly retryAfter: number;
  /** Gives the connection to the parser of Node, with the bytes that were read and not used. */
  handOver(connection: DirectConnection, bytes: Buffer): void;
  /** Told when the connection is closed. */
  closed(connection: DirectConnection): void;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/**
 * What a connection does: it never sent anything, waits for its next request, receives a body, waits for its answer, or was
 * refused and still sends its body, which nobody reads.
 */
export type Activity = "silent" | "idle" | "receiving" | "answering" | "refused";

/**
 * A connection whose requests are plain: they are read here, one at a time. As soon as one is not, the connection goes
 * over to the parser of Node and stays there, so that nothing but the plainest requests is read in two ways.
 */
export class DirectConnection implements Exchange {
  readonly method = "POST";
  readonly socket: Socket;
  readonly #parts: DirectParts;
  #path = "";
  #headers: Readonly<Record<string, string>> = {};
  /** Of the body that is being received. */
  #pieces: Buffer[] = [];
  #missing = 0;
  /** What it was given of the budget. */
  #granted = 0;
  #body: Buffer = nothing;
  /** What came while a request was served. */
  #early: Buffer[] = [];
  #activity: Activity = "silent";
  #since: number;
  #closing = false;

  constructor(socket: Socket, parts: DirectParts) {
    this.socket = socket;
    this.#parts = parts;
    this.#since = parts.now();
    socket.on("data", this.#read);
    socket.on("end", this.#ended);
    socket.on("error", this.#broken);
    socket.on("close", this.#closed);
  }

  get path(): string {
    return this.#path;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  get activity(): Activity {
    return this.#activity;
  }

  /** When the activity began. */
  get since(): number {
    return this.#since;
  }

  get body(): Buffer {
    return this.#body;
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  accept(): void {
    this.#answer(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: ${dateText()}\r\n`, "");
  }

  refuse({ status, headers, reason }: Refusal): number {
    const { type, content } = errorContent(reason, this.#headers["accept"]);
    const length = Buffer.byteLength(content);
    const { Connection: connection, ...others } = headers;
    this.#closing ||= connection === "close";
    const fields = { "Content-Type": type, "Content-Length": String(length), ...others, Date: dateText() };
    this.#answer(`${statusLine(status)}${headerLines(fields)}`, content);
    return length;
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Closes the connection now, or when the request that has begun is answered. */
  close(): void {
    this.#closing = true;
    if (this.#activity === "silent" || this.#activity === "idle") this.socket.destroy();
  }

  /** Stops reading, for the one who reads from now on. */
  leave(): void {
    this.socket.pause();
    this.socket.off("data", this.#read);
    this.socket.off("end", this.#ended);
    this.socket.off("error", this.#broken);
    this.socket.off("close", this.#closed);
  }

  readonly #read = (bytes: Buffer): void => {
    if (this.#activity === "receiving") this.#receive(bytes);
    else if (this.#activity === "answering") this.#keep(bytes);
    else if (this.#activity !== "refused") this.#begin(bytes);
  };

  #begin(bytes: Buffer): void {
    const head = plainHead(bytes, this.#parts.limits);
    if (head === undefined || !this.#isWelcome(head, bytes)) this.#parts.handOver(this, bytes);
    else this.#started(head, bytes);
  }

  /** Nobody may make the agent wait for a body who will be refused anyway. */
  #isWelcome({ headers, bodyTo }: PlainHead, bytes: Buffer): boolean {
    return bodyTo <= bytes.length || this.#parts.admits(headers);
  }

  #started({ path, headers, bodyFrom, bodyTo, isLast }: PlainHead, bytes: Buffer): void {
    this.#closing ||= isLast;
    this.#path = path;
    this.#headers = headers;
    if (bodyTo > bytes.length) {
      this.#missing = bodyTo - bytes.length;
      this.#become("receiving");
      this.#gather(bytes.subarray(bodyFrom));
      return;
    }
    if (bodyTo < bytes.length) this.#keep(bytes.subarray(bodyTo));
    this.#serve(bytes.subarray(bodyFrom, bodyTo));
  }

  /** False when there is no room for the piece, and the sender was told. */
  #gather(piece: Buffer): boolean {
    const granted = this.#parts.budget.grant(piece.length, this.#granted);
    if (granted === 0) {
      this.#pieces = [];
      this.#release();
      this.#parts.turnAway(this, noRoomForBody(this.#parts.retryAfter));
      return false;
    }
    this.#granted += granted;
    this.#pieces.push(piece);
    return true;
  }

  #release(): void {
    this.#parts.budget.release(this.#granted);
    this.#granted = 0;
  }

  #receive(bytes: Buffer): void {
    if (!this.#gather(bytes.subarray(0, this.#missing))) return;
    if (bytes.length > this.#missing) this.#keep(bytes.subarray(this.#missing));
    this.#missing -= Math.min(bytes.length, this.#missing);
    if (this.#missing > 0) return;
    const body = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#serve(body);
  }

  /** A sender that does not wait for answers may send no more until its first request is answered. */
  #keep(bytes: Buffer): void {
    this.#early.push(bytes);
    this.socket.pause();
  }

  #serve(body: Buffer): void {
    this.#body = body;
    this.#become("answering");
    this.#parts.serve(this);
  }

  /** In one piece. */
  #answer(head: string, content: string): void {
    this.#body = nothing;
    if (this.#granted > 0) this.#release();
    if (!this.socket.writable) return;
    const closing = this.#closing;
    const text = `${head}${closing ? CLOSE : this.#parts.keepAlive}\r\n${content}`;
    this.socket.write(text, content === "" ? "latin1" : "utf8");
    if (closing && this.#missing > 0) this.#endAfterBody();
    else if (closing) this.socket.destroySoon();
    else this.#goOn();
  }

  /** Closing while the sender still sends would reset the connection, and the answer might be lost with it. */
  #endAfterBody(): void {
    this.#become("refused");
    this.socket.end();
  }

  #goOn(): void {
    this.#become("idle");
    if (this.#early.length === 0) return;
    const early = Buffer.concat(this.#early);
    this.#early = [];
    this.#parts.handOver(this, early);
  }

  #become(activity: Activity): void {
    this.#activity = activity;
    this.#since = this.#parts.now();
  }

  /** A sender that will send no more still gets the answer to what it sent. */
  readonly #ended = (): void => {
    if (this.#activity === "answering") this.#closing = true;
    else this.socket.destroy();
  };

  readonly #broken = (): void => {
    this.socket.destroy();
  };

  readonly #closed = (): void => {
    if (this.#granted > 0) this.#release();
    this.#parts.closed(this);
  };
}

const nothing = Buffer.alloc(0);
const CLOSE = "Connection: close\r\n";
