import { realpath } from "node:fs/promises";
import { makeFolder } from "../files/make-folder.js";
import { AgentError, type ChannelContext } from "../sdk/index.js";

/** Locks as an agent gives them to its channels, but known to their users in this process only. */
export function folderLocks(): ChannelContext["lockFolder"] {
  const held = new Set<string>();
  return async (folder) => {
    await makeFolder(folder, 0o700);
    const real = await realpath(folder);
    if (held.has(real))
      throw new AgentError("FOLDER_IN_USE", `folder "${folder}" is in use by another component`, { retryable: false });
    held.add(real);
    return {
      release: async () => {
        held.delete(real);
      },
    };
  };
}
