import type { Accepted } from "./source.js";

/**
 * What a call returns that has nothing to wait for, such as the `commit` of a put that is as durable as its channel promises
 * already. Whoever knows it by its identity goes on at once, and not after a turn of the promise queue: each notification would
 * pay for several.
 * @beta
 */
export const atOnce: Promise<void> = Promise.resolve();

/** Likewise what `receive` returns for a request that was accepted before it returned. @beta */
export const acceptedAtOnce: Promise<Accepted> = Promise.resolve({ accepted: true });
