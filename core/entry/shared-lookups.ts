import { AsyncResource } from "node:async_hooks";
import { createRequire } from "node:module";

type Callback = (...result: readonly unknown[]) => void;
type Lookup = (name: string, ...rest: readonly unknown[]) => unknown;

/**
 * Makes all connections of the process look names up by {@link sharedLookup}. Clients end their wait for a name server, but the
 * lookup goes on, in one of two threads: those of a name whose server does not answer would hold up all others (decision 0216).
 */
export function shareLookups(): void {
  const dns: { lookup: Lookup } = createRequire(import.meta.url)("node:dns");
  const { lookup } = dns;
  // What promisify knows of it.
  dns.lookup = Object.defineProperties(sharedLookup(lookup), Object.getOwnPropertyDescriptors(lookup));
}

/** A lookup that waits for the one of the same name that is on its way, if there is one. */
export function sharedLookup(lookup: Lookup): Lookup {
  const waiting = new Map<string, Callback[]>();
  return (name, ...rest) => {
    const callback = rest.at(-1);
    if (!isCallback(callback)) return lookup(name, ...rest);
    const options = rest.slice(0, -1);
    const key = JSON.stringify([name, options]);
    const own = AsyncResource.bind(callback);
    const others = waiting.get(key);
    if (others !== undefined) return void others.push(own);
    const all = [own];
    const answer: Callback = (...result) => {
      waiting.delete(key);
      // One that throws keeps no other one from its answer.
      for (const one of all) process.nextTick(one, ...result);
    };
    waiting.set(key, all);
    try {
      return lookup(name, ...options, answer);
    } catch (error) {
      waiting.delete(key);
      throw error;
    }
  };
}

function isCallback(value: unknown): value is Callback {
  return typeof value === "function";
}
