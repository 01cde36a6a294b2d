import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type WaitingRequests, waitingInProcess } from "./waiting-requests.js";

/** Least milliseconds between two looks at whether senders read their responses. */
const LEAST_LOOK_MILLIS = 1000;

/** A request that Node's HTTP parser has read the head of. */
interface OpenRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Reads the body and responds. */
  begin(): void;
  /** Called once: it has its response, or its connection is closed. */
  over(): void;
}

interface NodeConnectionsParts {
  /** Called when no request is without its response any longer. */
  readonly idle: () => void;
  /** Called when a connection was closed because too many requests wait. */
  readonly tooMany: () => void;
  /** Those of the process when absent. */
  readonly waiting?: WaitingRequests | undefined;
}

/** The requests of all connections that Node's parser reads, until they have their responses. */
export class NodeConnections {
  readonly #open = new Map<Socket, NodeConnection>();
  readonly #parts: NodeConnectionsParts;
  #unanswered = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(parts: NodeConnectionsParts) {
    this.#parts = parts;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  /** Begins a request, at once or when the earlier ones of its connection are over. */
  add(socket: Socket, { over, ...open }: OpenRequest): void {
    this.#unanswered += 1;
    const counted = () => {
      over();
      this.#unanswered -= 1;
      if (this.#unanswered === 0) this.#parts.idle();
    };
    this.#connectionOf(socket).add({ ...open, over: counted });
  }

  /**
   * Does the last thing on a connection, once the requests that were read as a whole have their responses. `inBody` says whether
   * it is about the body of a request.
   */
  last(socket: Socket, work: LastWork): void {
    const open = this.#open.get(socket);
    if (open === undefined) work(false);
    else open.last(work);
  }

  /** Closes every connection, also one that Node has left because a request on it asked for a tunnel. */
  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  /**
   * From now on the connection of a sender is closed that has read nothing of a response for these milliseconds, a second at least, and
   * twice as long at most; 0 is no limit.
   */
  closeUnread(millis: number): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    if (millis === 0) return;
    const look = () => {
      for (const connection of this.#open.values()) connection.closeUnread();
    };
    this.#looking = setInterval(look, Math.max(LEAST_LOOK_MILLIS, millis)).unref();
  }

  #connectionOf(socket: Socket): NodeConnection {
    const open = this.#open.get(socket);
    if (open !== undefined) return open;
    const { tooMany, waiting = waitingInProcess } = this.#parts;
    const opened = new NodeConnection(socket, { tooMany, waiting });
    this.#open.set(socket, opened);
    socket.once("close", () => this.#open.delete(socket));
    return opened;
  }
}

type LastWork = (inBody: boolean) => void;

type ConnectionParts = Pick<NodeConnectionsParts, "tooMany"> & { readonly waiting: WaitingRequests };

/**
 * The requests of one connection, which are served one after another: one that is refused may close the connection, and nothing
 * behind it may be stored then. Node reads those of a sender that does not wait for responses as long as no response is written,
 * however many; and when the connection is closed it forgets the responses behind the first one, which are never closed.
 */
class NodeConnection {
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  #served: OpenRequest | undefined;
  #waiting: OpenRequest[] = [];
  #last: (() => void) | undefined;
  /** One that got its response before its body had arrived. */
  #early: IncomingMessage | undefined;
  /** The response that waited for its sender at the last look. */
  #unread: ServerResponse | undefined;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.once("close", this.#closed);
    socket.on("resume", this.#hold);
  }

  add(request: OpenRequest): void {
    // After a last response nothing is served.
    if (!this.#socket.writable) request.over();
    else if (this.#served === undefined) this.#begin(request);
    else if (this.#parts.waiting.admit()) {
      this.#waiting.push(request);
      this.#hold();
    } else {
      this.#socket.destroy();
      request.over();
      this.#parts.tooMany();
    }
  }

  /** Only the first one counts: Node's parser fails again at whatever follows. */
  last(work: LastWork): void {
    if (this.#last !== undefined) return;
    const broken = this.#all.filter(({ request }) => !request.complete);
    // The sender would take a second response for that to its next request.
    this.#last = this.#isAnswered ? () => this.#socket.destroySoon() : () => work(broken.length > 0);
    this.#socket.pause();
    if (this.#served?.request.complete === false) this.#served = undefined;
    const whole = this.#waiting.filter(({ request }) => request.complete);
    this.#parts.waiting.release(this.#waiting.length - whole.length);
    this.#waiting = whole;
    for (const { over } of broken) over();
    if (this.#served === undefined) this.#last();
  }

  /** Whether the request that is not complete, where there is one, has its response. */
  get #isAnswered(): boolean {
    const served = this.#served;
    if (served?.request.complete === false) return served.response.headersSent;
    return this.#waiting.length === 0 && this.#early?.complete === false;
  }

  /** Closes the connection when its sender has read nothing of a response since the look before. */
  closeUnread(): void {
    const response = this.#served?.response;
    const unread = response?.writableEnded === true ? response : undefined;
    if (unread !== undefined && unread === this.#unread) this.#socket.destroy();
    this.#unread = unread;
  }

  get #all(): readonly OpenRequest[] {
    return [...(this.#served === undefined ? [] : [this.#served]), ...this.#waiting];
  }

  #begin(request: OpenRequest): void {
    this.#served = request;
    request.response.once("close", () => this.#over(request));
    request.begin();
  }

  #over(request: OpenRequest): void {
    if (this.#served !== request) return;
    request.over();
    this.#early = request.request.complete ? undefined : request.request;
    const next = this.#socket.writable ? this.#waiting.shift() : undefined;
    this.#served = next;
    if (next === undefined) this.#last?.();
    else {
      this.#parts.waiting.release(1);
      // Refusals need no turn of their own: the thousands of one sender would keep all others waiting.
      setImmediate(() => this.#beginNext(next));
    }
  }

  #beginNext(next: OpenRequest): void {
    if (this.#served !== next || !this.#socket.writable) return;
    // The body of the last one may not have arrived.
    if (this.#waiting.length === 0 && this.#last === undefined) this.#socket.resume();
    this.#begin(next);
  }

  /** Nothing more is read while a request waits for its turn. Node goes on by itself when responses have been written. */
  readonly #hold = (): void => {
    if (this.#waiting.length > 0 || this.#last !== undefined) this.#socket.pause();
  };

  readonly #closed = (): void => {
    const all = this.#all;
    this.#parts.waiting.release(this.#waiting.length);
    this.#served = undefined;
    this.#waiting = [];
    this.#last = undefined;
    for (const { over } of all) over();
  };
}
