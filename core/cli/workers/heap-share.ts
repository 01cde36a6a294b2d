import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

const MEBIBYTE = 1024 * 1024;
/** Of the memory, for the heaps of all workers: the rest is for bodies, files and what Node itself takes. */
const SHARE_OF_MEMORY = 0.5;
/** An agent that waits has half of it. */
const LEAST = 64;
/** Above this part of what Node would give the heap no option is given: with one, V8 compiles the code of the agent anew. */
const WORTHWHILE = 0.9;
const GIVEN = /--max[-_](old[-_]space|heap)[-_]size/;

interface Memory {
  /** Of the machine, in bytes. */
  readonly total: number;
  /** Of the container, in bytes: 0 or a number beyond all memory where there is no limit. */
  readonly constrained: number;
  /** What Node would let the heap of a process have, in bytes. */
  readonly heap: number;
  /** Options of Node that are given. */
  readonly options: string;
}

/**
 * The option of Node that gives each of several processes its part of the memory: Node gives each of them half, as if it were
 * alone. None where the heap has a size that somebody has chosen.
 */
export function heapShare(processes: number, memory: Memory = memoryOfProcess()): readonly string[] {
  const { total, constrained, heap, options } = memory;
  if (GIVEN.test(options)) return [];
  const all = constrained > 0 ? Math.min(total, constrained) : total;
  const share = Math.max(LEAST, Math.floor((all * SHARE_OF_MEMORY) / processes / MEBIBYTE));
  return share * MEBIBYTE < heap * WORTHWHILE ? [`--max-old-space-size=${share}`] : [];
}

function memoryOfProcess(): Memory {
  const options = [process.env["NODE_OPTIONS"] ?? "", ...process.execArgv].join(" ");
  const heap = getHeapStatistics().heap_size_limit;
  return { total: totalmem(), constrained: process.constrainedMemory(), heap, options };
}
