import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LoadOrder, LoadResult } from "./load.js";

const script = fileURLToPath(new URL("./autocannon-process.js", import.meta.url));

/** The load generator autocannon. */
export async function autocannonLoad(order: LoadOrder): Promise<LoadResult> {
  const child = fork(script, [JSON.stringify(order)], { serialization: "json" });
  const exited = once(child, "exit").then(() => {
    throw new Error("autocannon ended without a result");
  });
  const result = await Promise.race([once(child, "message"), exited]);
  exited.catch(() => undefined);
  return toLoadResult(result);
}

function toLoadResult(message: unknown): LoadResult {
  if (!Array.isArray(message)) throw new Error("autocannon sent no result");
  const [result] = message;
  return result;
}
