import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { HttpConfig } from "./config.js";

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
