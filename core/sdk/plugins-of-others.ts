import type { AnyPlugin } from "./define-plugin.js";

const ofOthers = new WeakSet<AnyPlugin>();

/** Notes that a definition does not come with the program. */
export function noteOfOthers(definition: AnyPlugin): void {
  ofOthers.add(definition);
}

/** Whether what it creates may do what the contract forbids: such a component gets events that are frozen (decision 0152). */
export function isOfOthers(definition: AnyPlugin): boolean {
  return ofOthers.has(definition);
}
