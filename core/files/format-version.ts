import { AgentError } from "../sdk/index.js";

/** A file of the agent, and the version of its format. */
interface FoundVersion {
  readonly file: string;
  readonly found: unknown;
  /** The latest that this agent reads. */
  readonly known: number;
}

/**
 * Throws code `FORMAT_OF_NEWER_VERSION` for a file that a later version of the agent wrote: it is neither read nor changed, so
 * that the later version finds all of it. A file without a version has the first one.
 */
export function refuseNewerFormat({ file, found, known }: FoundVersion): void {
  if (found === undefined || (typeof found === "number" && found <= known)) return;
  const shown = typeof found === "number" || typeof found === "string" ? String(found).slice(0, 20) : "another";
  const remedy =
    "start the later version of Deneb again, or give this one another data directory; the file is unchanged";
  const message = `reading "${file}": it has version ${shown} of its format, and this agent reads version ${known}; ${remedy}`;
  throw new AgentError(NEWER_FORMAT, message, { retryable: false });
}

export const NEWER_FORMAT = "FORMAT_OF_NEWER_VERSION";
