import { access, constants, stat } from "node:fs/promises";
import path from "node:path";
import { causesOf } from "../sdk/causes.js";
import { AgentError, codeOf, reasonOf } from "../sdk/index.js";

/** Why something failed. Where the system refuses this process a file or a folder, also whose it is, and what to do. */
export async function reasonWithRemedy(error: unknown): Promise<string> {
  const remedy = await remedyOfRefusal(error);
  return remedy === undefined ? reasonOf(error) : `${reasonOf(error)}; ${remedy}`;
}

/** What to do where the system refuses this process a file or a folder; undefined for other errors, and those that say it. */
export async function remedyOfRefusal(error: unknown): Promise<string | undefined> {
  const causes = causesOf(error);
  if (causes.some((cause) => codeOf(cause) === "FOLDER_UNUSABLE")) return undefined;
  const refused = causes.map(refusedFile).find((one) => one !== undefined);
  return refused && (await remedyAt(refused));
}

/** Rejects where a file that is there cannot be written; the system may refuse that while it lets it be read. */
export async function refuseUnwritable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK | constants.W_OK);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return;
    throw new AgentError("FILE_NOT_WRITABLE", `writing "${file}"`, { cause, retryable: false });
  }
}

interface RefusedFile {
  readonly file: string;
  /** What the system says, whoever asks, of a file that an attribute protects. */
  readonly isNotPermitted: boolean;
}

function refusedFile(error: unknown): RefusedFile | undefined {
  const code = codeOf(error);
  if ((code !== "EACCES" && code !== "EPERM") || !(error instanceof Error)) return undefined;
  if (!("path" in error) || typeof error.path !== "string") return undefined;
  return { file: error.path, isNotPermitted: code === "EPERM" };
}

/** The nearest one above it that can be looked at says more where it cannot. */
async function remedyAt({ file, isNotPermitted }: RefusedFile): Promise<string> {
  const orUnprotect = isNotPermitted ? ", or take an attribute from it that protects it (lsattr, chattr -i -a)" : "";
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found === undefined && at !== path.dirname(at)) continue;
    const user = process.geteuid?.();
    if (found === undefined || found.uid === user) return `give this user the right to use "${at}"${orUnprotect}`;
    const what = found.isDirectory() ? "it and all that is in it" : "it";
    return `"${at}" belongs to user ${found.uid}; run as that user, or give user ${user} the right to use ${what}`;
  }
}

/** The codes of a process, and of a machine, that has as many files open as it may. */
export const fullTables: readonly string[] = ["EMFILE", "ENFILE"];

export const OPEN_FILES_REMEDY = "raise the limit of open files (ulimit -Hn, LimitNOFILE)";
