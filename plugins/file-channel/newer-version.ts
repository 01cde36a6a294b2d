import { AgentError } from "deneb/sdk";

/** A file of a newer version is not read in part and never changed: the newer version still has all of it. */
export function newerVersion(file: string, version: number, known = 1): AgentError {
  const remedy = "start that version again and let it empty the channel, or move the folders of the channel away";
  return new AgentError(
    "CHANNEL_OF_NEWER_VERSION",
    `opening "${file}": it has version ${version} of the format, and this agent reads version ${known}; ${remedy}`,
    { retryable: false },
  );
}
