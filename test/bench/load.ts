import type { LoadBodies } from "./requests.js";

/** What a load generator is told to do. */
export interface LoadOrder {
  readonly url: string;
  readonly service: string;
  readonly bodies: LoadBodies;
  readonly seconds: number;
  readonly connections: number;
  /** Requests per second of all connections together; absent: each connection sends when it has its answer. */
  readonly rate?: number;
}

/** What came of it; latencies in milliseconds from request to answer. */
export interface LoadResult {
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  /** The most requests that were broken off at the end: the system may have taken them in or not. */
  readonly unanswered: number;
  /** When the first request was sent, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly seconds: number;
  /** Cores that the generator itself used. */
  readonly cores: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Sends notifications as fast as they are answered, or at a rate, in a process of its own. No pipelining. */
export type LoadGenerator = (order: LoadOrder) => Promise<LoadResult>;
