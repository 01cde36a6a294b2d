import type { HealthReport, Logger } from "../sdk/index.js";

/** What the locks of folders tell: each is given the file of the lock. */
interface FolderWatch {
  lost(file: string): void;
  back(file: string): void;
}

/** Logs and reports the folders of a channel that are removed while they are in use. */
export function removedFolders(log: Logger, report: (report: HealthReport) => void): FolderWatch {
  const gone = new Set<string>();
  const reportFirst = () => {
    const [file] = gone;
    if (file === undefined) return report({ state: "up" });
    const reason = `"${file}" was removed while the agent uses its folder: what waits may not be on disk, and another agent could use the folder, too; put the folder back, or start the agent again`;
    report({ state: "down", reason });
  };
  return {
    lost: (file) => {
      const message = "a folder that is in use was removed, or its lock file; put it back, or start the agent again";
      log.error({ file }, message);
      gone.add(file);
      reportFirst();
    },
    back: (file) => {
      log.info({ file }, "a folder that was removed is back, and no other agent used it meanwhile");
      gone.delete(file);
      reportFirst();
    },
  };
}
