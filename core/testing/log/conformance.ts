import { inRoom } from "../component-fixture.js";
import type { ConformanceCase, ConformanceLogs, PluginSetup } from "../plugin-setup.js";
import type { LogCase } from "./log-case.js";
import { readCases } from "./read-cases.js";
import { recordCases } from "./record-cases.js";
import { namedRecordCases, sharedLogCases, unreachableLogCases } from "./shared-log-cases.js";

/** What every adapter of a log does, and what its engine allows to see; each case works on a log of its own. @beta */
export function logConformance(engine: ConformanceLogs): readonly ConformanceCase[] {
  return casesOf(engine).map(({ name, run }) => ({ name, run: () => run(engine) }));
}

/** Those cases over the engine of a setup, which is opened for each of them; none without one. */
export async function adapterCases({ openLogs }: PluginSetup): Promise<readonly ConformanceCase[]> {
  if (openLogs === undefined) return [];
  let cases: readonly LogCase[] = [];
  await inRoom(async ({ folder }) => {
    cases = casesOf(await openLogs(folder));
  });
  return cases.map(({ name, run }) => ({ name, run: () => inRoom(async ({ folder }) => run(await openLogs(folder))) }));
}

function casesOf({ keepsNames, unreachable }: ConformanceLogs): readonly LogCase[] {
  return [
    ...recordCases,
    ...readCases,
    ...sharedLogCases,
    ...(keepsNames === true ? namedRecordCases : []),
    ...(unreachable === undefined ? [] : unreachableLogCases),
  ];
}
