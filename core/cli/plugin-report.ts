import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeHashes } from "../registry/code-hashes.js";
import { isRecord } from "../sdk/event.js";
import { AgentError, API_VERSION, codeOf, reasonOf } from "../sdk/index.js";

/** The file of a package that holds the result of `deneb plugin test --report`. */
const REPORT = "deneb-report.json";

/** The outcome of one case; `failure` says why it failed. */
export interface CaseResult {
  readonly name: string;
  readonly failure?: string;
}

/** The cases of one plugin. */
export interface PluginResult {
  readonly kind: string;
  readonly type: string;
  readonly cases: readonly CaseResult[];
  /** What no case looked at, a sentence each. */
  readonly notTested: readonly string[];
}

interface Tested {
  /** The folder that was tested. */
  readonly folder: string;
  readonly plugins: readonly PluginResult[];
  /** Version of the program. */
  readonly version: string;
  readonly now: Date;
}

/** Writes the result of the suites, and the hashes of the code files of the folder, to a file. */
export async function writeReport(file: string, { folder, plugins, version, now }: Tested): Promise<void> {
  const report = {
    report: 1,
    deneb: version,
    apiVersion: API_VERSION,
    node: process.version,
    date: now.toISOString(),
    plugins: plugins.map(({ cases, notTested, ...names }) => ({ ...names, ...counts(cases), notTested, cases })),
    files: Object.fromEntries(await codeHashes(folder)),
  };
  try {
    await writeFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
  } catch (cause) {
    const reason = "name a file in a folder that can be written";
    throw new AgentError("REPORT_UNWRITABLE", `writing the report "${file}" (${codeOf(cause)}): ${reason}`, {
      cause,
      retryable: false,
    });
  }
}

function counts(cases: readonly CaseResult[]) {
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  return { passed: cases.length - failed, failed };
}

/** What the report of a package says of one plugin, for people; undefined where the package has none. */
export async function reportText(folder: string, kind: string, type: string): Promise<string | undefined> {
  const text = await readFile(path.join(folder, REPORT), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const report: unknown = JSON.parse(text);
    const result = resultOf(report, kind, type);
    if (!isRecord(report) || result === undefined) return `its ${REPORT} says nothing of this plugin`;
    const other = await otherFile(folder, report.files);
    if (other !== undefined) return `its ${REPORT} is for other code: "${other}" was not tested as it is`;
    const when = `with Deneb ${String(report.deneb).slice(0, 30)}, ${String(report.date).slice(0, 10)}, by its author`;
    const left = result.notTested === 0 ? "" : `, ${result.notTested} not tested`;
    return `${result.passed} passed, ${result.failed} failed${left} ${when}`;
  } catch (error) {
    return `its ${REPORT} cannot be read: ${reasonOf(error)}`;
  }
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** Parts of the plugin. */
  readonly notTested: number;
}

function resultOf(report: unknown, kind: string, type: string): Counts | undefined {
  const plugins: unknown = isRecord(report) && report.report === 1 ? report.plugins : undefined;
  const found: unknown = Array.isArray(plugins)
    ? plugins.find((one) => isRecord(one) && one.kind === kind && one.type === type)
    : undefined;
  if (!isRecord(found) || typeof found.passed !== "number" || typeof found.failed !== "number") return undefined;
  const left: unknown = found.notTested;
  return { passed: found.passed, failed: found.failed, notTested: Array.isArray(left) ? left.length : 0 };
}

/** A code file that the package has and that was not tested, or not like this. A package may leave files out. */
async function otherFile(folder: string, tested: unknown): Promise<string | undefined> {
  const hashes = isRecord(tested) ? tested : {};
  return (await codeHashes(folder)).find(([file, hash]) => !Object.hasOwn(hashes, file) || hashes[file] !== hash)?.[0];
}
