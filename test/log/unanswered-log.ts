import type { PartitionedLog } from "../../core/log/index.js";
import { codeOf } from "../../core/sdk/index.js";
import { until } from "../support/until.js";

/** Looks at what a log refuses. */
export interface RefusalsOfLog {
  /** The same log. */
  watched(log: PartitionedLog): PartitionedLog;
  /** Resolves when an append to the first part failed with this code. */
  failed(code: string): Promise<unknown>;
}

export function refusalsOfLog(): RefusalsOfLog {
  const codes: unknown[] = [];
  const watched = (log: PartitionedLog): PartitionedLog => ({
    open: (signal) => log.open(signal),
    append: (part, value, name) =>
      log.append(part, value, name).catch((error: unknown) => {
        if (part === 0) codes.push(codeOf(error));
        throw error;
      }),
    read: (...reading) => log.read(...reading),
    bounds: (parts) => log.bounds(parts),
    trim: (...trimming) => log.trim(...trimming),
    close: (signal) => log.close(signal),
  });
  const failed = (code: string) =>
    until(
      async () => codes,
      (seen) => seen.includes(code),
    );
  return { watched, failed };
}
