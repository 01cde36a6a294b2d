import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { retryableOf } from "../sdk/index.js";

/** Gets the names of the calls of the plugin that have not settled, of the case that runs in it. */
export const unsettledCalls = new AsyncLocalStorage<string[]>();

/** Calls the plugin. Of what it throws an error is made that names the call, unless it is one. */
export async function called<T>(name: string, call: () => T | Promise<T>): Promise<T> {
  const calls = unsettledCalls.getStore() ?? [];
  calls.push(name);
  try {
    return await call();
  } catch (thrown) {
    if (thrown instanceof Error || retryableOf(thrown) !== undefined) throw thrown;
    throw new Error(`${name} threw ${inspect(thrown)}; throw an AgentError, which says whether to try again`);
  } finally {
    calls.splice(calls.lastIndexOf(name), 1);
  }
}
