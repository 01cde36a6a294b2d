import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { growYoungGenerationWhenBusy } from "./young-generation.js";

/**
 * Modules of Node that an agent loads until it listens or soon after. Node brings them compiled, and V8 takes them as such only
 * while its flags are those of its start: loaded later they take twice as long.
 */
const modulesOfNode = [
  "assert",
  "child_process",
  "cluster",
  "crypto",
  "diagnostics_channel",
  "dns",
  "fs/promises",
  "http",
  "https",
  "net",
  "os",
  "path/posix",
  "perf_hooks",
  "timers/promises",
  "tls",
  "tty",
  "util/types",
  "worker_threads",
  "zlib",
];

/** Sets how V8 keeps the heap of an agent, and of a command that has the code of an agent (decisions 0086 and 0192). */
export function settleHeap(): void {
  const require = createRequire(import.meta.url);
  for (const name of modulesOfNode) require(`node:${name}`);
  // The young generation is small: helper threads cost more CPU time to collect it than they save.
  setFlagsFromString("--no-parallel-scavenge");
  // V8 would allocate objects of kinds that survived a collection in the old generation; dead events there keep all that
  // they refer to until a full collection.
  setFlagsFromString("--no-allocation-site-pretenuring");
  // The old generation is collected when the heap has grown by 60 percent, not when it is four times as large.
  setFlagsFromString("--heap-growing-percent=60");
  // Less takes more CPU time for an event; more, memory.
  growYoungGenerationWhenBusy(12);
}
