import type { LogCase } from "./log-case.js";
import { readCases } from "./read-cases.js";
import { recordCases } from "./record-cases.js";
import { sharedLogCases } from "./shared-log-cases.js";

export type { LogCase, LogEngine } from "./log-case.js";

/** What every adapter of a partitioned log does; each case works on a log of its own. */
export const partitionedLogCases: readonly LogCase[] = [...recordCases, ...readCases, ...sharedLogCases];
