import { autocannonLoad } from "./autocannon.js";
import type { LoadGenerator } from "./load.js";
import { wrkIsThere, wrkLoad } from "./wrk.js";

/** The load generators by the value of `--generator`. */
const generators = { autocannon: autocannonLoad, wrk: wrkLoad } satisfies Record<string, LoadGenerator>;

/** Throws when there is no such generator, or when it is not installed. */
export async function generatorOf(name: string): Promise<LoadGenerator> {
  if (name !== "autocannon" && name !== "wrk") {
    throw new Error(`--generator is "${name}"; write autocannon or wrk`);
  }
  if (name === "wrk" && !(await wrkIsThere())) {
    throw new Error('--generator is "wrk", but no program wrk is on PATH; install it (Debian: apt-get install wrk)');
  }
  return generators[name];
}
