import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { BodyFormat } from "./notifications.js";

/** What the load generator is told to do. */
export interface LoadOrder {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** Requests per second of all connections together; absent: each connection sends when it has its answer. */
  readonly rate?: number;
  readonly entities: number;
  readonly format: BodyFormat;
}

/** What came of it; latencies in milliseconds from request to answer. */
export interface LoadResult {
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

const generator = fileURLToPath(new URL("./load-generator.js", import.meta.url));

/** Runs the load generator in a process of its own. */
export async function load(order: LoadOrder): Promise<LoadResult> {
  const child = fork(generator, [JSON.stringify(order)], { serialization: "json" });
  const exited = once(child, "exit").then(() => {
    throw new Error("the load generator ended without a result");
  });
  const result = await Promise.race([once(child, "message"), exited]);
  exited.catch(() => undefined);
  return toLoadResult(result);
}

function toLoadResult(message: unknown): LoadResult {
  if (!Array.isArray(message)) throw new Error("the load generator sent no result");
  const [result] = message;
  return result;
}
