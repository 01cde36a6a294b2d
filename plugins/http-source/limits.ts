import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { HttpConfig } from "./config.js";
import { closingResponse, type Refusal, tooManyConnections } from "./responses.js";

/** The cost of a piece of a body beside its bytes. */
const PIECE_BYTES = 256;

/** A body is small up to here. */
const SMALL_BYTES = 262_144;

/** The share of the budget that large bodies may have together. */
const LARGE_SHARE = 0.75;

/** The share of the memory that bodies may take where no number is given, and the most of it. */
const SHARE_OF_MEMORY = 1 / 8;
const MOST_BYTES = 134_217_728;

/** What bounds the memory of the process, in bytes. */
interface Memory {
  /** Of the machine. */
  readonly total: number;
  /** Of the container: 0 or a number beyond all memory where there is no limit. */
  readonly constrained: number;
  /** What the heap may take: half of the memory, where Node chooses it, but 256 MiB at least. */
  readonly heap: number;
}

/** Most bytes of bodies in flight where no number is given. */
export function bytesInFlight({ total, constrained, heap }: Memory = memoryOfProcess()): number {
  const memory = Math.min(total, constrained > 0 ? constrained : total, 2 * heap);
  return Math.min(MOST_BYTES, Math.floor(memory * SHARE_OF_MEMORY));
}

function memoryOfProcess(): Memory {
  const heap = getHeapStatistics().heap_size_limit;
  return { total: totalmem(), constrained: process.constrainedMemory(), heap };
}

type BudgetLimits = Pick<HttpConfig, "max_bytes_in_flight" | "max_body_size">;

/**
 * The bytes of bodies that a source holds, of all connections together, from the first piece of a body to its response.
 * A part is reserved for small bodies, so that large ones that never end do not exclude other senders. One body
 * of the largest size always has room.
 */
export class BodyBudget {
  #limits: BudgetLimits;
  #used = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = inBytes(limits);
  }

  /** Applies to later pieces; what was granted stays granted. */
  set limits(limits: BudgetLimits) {
    this.#limits = inBytes(limits);
  }

  get used(): number {
    return this.#used;
  }

  /** The cost of a further piece of a body that was granted `before` so far; 0 when there is no room for it. */
  grant(bytes: number, before: number): number {
    const cost = bytes + PIECE_BYTES;
    const { max_bytes_in_flight: all, max_body_size } = this.#limits;
    const share = before + cost > SMALL_BYTES ? LARGE_SHARE * all : all;
    const others = this.#used - before;
    const isAlone = others === 0 && before + bytes <= 2 * max_body_size;
    if (this.#used + cost > share && !isAlone) return 0;
    this.#used += cost;
    return cost;
  }

  release(granted: number): void {
    this.#used -= granted;
  }
}

function inBytes({ max_bytes_in_flight: given, max_body_size }: BudgetLimits): BudgetLimits {
  return { max_bytes_in_flight: given === -1 ? bytesInFlight() : given, max_body_size };
}

type Limits = Pick<HttpConfig, "max_connections" | "retry_after">;

/** Most connections beyond the limit that get a response; others are closed at once. */
const MOST_ANSWERED = 100;

/** How long a sender has to read its response. */
const LINGER_MILLIS = 2000;

/** Where the system does not say how many files this process may open. */
const USUAL_FILES = 10_240;

/** Connections of all sources of this process: channels, databases and the management interface need the other half of its files. */
export const MOST_IN_PROCESS = Math.floor(openFileLimit() / 2);
let openInProcess = 0;

/** Node has raised it as far as it may. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? USUAL_FILES);
  } catch {
    return USUAL_FILES;
  }
}

/** The share of the heap that requests may take which wait for the response to an earlier one of their connection, and what one takes. */
const SHARE_OF_WAITING = 1 / 8;
const BYTES_OF_WAITING = 8192;

/** Most requests that wait so, of all sources of this process. */
export const MOST_WAITING = Math.floor((getHeapStatistics().heap_size_limit * SHARE_OF_WAITING) / BYTES_OF_WAITING);

/**
 * The requests of senders that do not wait for responses. Node's parser makes thousands out of one piece of what a connection
 * received, and each takes far more memory than its bytes.
 */
export class WaitingRequests {
  readonly #most: number;
  #number = 0;

  constructor(most: number = MOST_WAITING) {
    this.#most = most;
  }

  get number(): number {
    return this.#number;
  }

  /** False when no more may wait. */
  admit(): boolean {
    if (this.#number >= this.#most) return false;
    this.#number += 1;
    return true;
  }

  release(requests: number): void {
    this.#number -= requests;
  }
}

/** Of all sources of this process. */
export const waitingInProcess = new WaitingRequests();

/** Counts the open connections of a source, and closes those beyond the limit. */
export class ConnectionLimit {
  #config: Limits;
  readonly #refused: (refusal: Refusal) => void;
  #open = 0;

  constructor(config: Limits, refused: (refusal: Refusal) => void) {
    this.#config = config;
    this.#refused = refused;
  }

  /** Applies to later connections; open ones stay open. */
  set config(config: Limits) {
    this.#config = config;
  }

  /** False beyond the limit; then the connection gets a response, where it speaks plain HTTP, and is closed. */
  admits(socket: Socket, isPlain: boolean): boolean {
    const { max_connections, retry_after } = this.#config;
    this.#open += 1;
    openInProcess += 1;
    socket.once("close", this.#closed);
    if (this.#open <= max_connections && openInProcess <= MOST_IN_PROCESS) return true;
    const refusal = tooManyConnections(retry_after);
    this.#refused(refusal);
    const mayWait = this.#open <= max_connections + MOST_ANSWERED && openInProcess <= MOST_IN_PROCESS * 1.1;
    if (isPlain && mayWait) endWith(closingResponse(refusal), socket);
    else socket.destroy();
    return false;
  }

  readonly #closed = (): void => {
    this.#open -= 1;
    openInProcess -= 1;
  };
}

/** What the sender has sent is read and discarded: unread, it would reset the connection before the response is read. */
function endWith(response: string, socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MILLIS).unref();
  socket.on("close", () => clearTimeout(timer));
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.resume();
  socket.end(response);
}
