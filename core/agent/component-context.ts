import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { lockFolder } from "../files/folder-lock.js";
import { notificationCodec } from "../ngsi/index.js";
import type { ArrivalSwitch } from "../pipeline/arrival-switch.js";
import type { CrashWatch } from "../pipeline/crash-watch.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Erasures } from "../pipeline/erasures.js";
import type { Ledger } from "../pipeline/ledger.js";
import type { QuotaBooks } from "../pipeline/service-quota.js";
import type { ChannelContext, Context, HealthReport, Logger, Metrics } from "../sdk/index.js";
import type { Clock, Loggers, Tracing, TransactionObserver } from "../tokens.js";
import type { ReportedHealth } from "./reported-health.js";
import type { UsedFolders } from "./used-folders.js";

/** Names this run of the agent for stores that several agents write to. Made once: what one process does has one name. */
const runOfProcess: string = [
  hostname().replaceAll(",", "_"),
  process.pid,
  new Date(Date.now() - Math.round(process.uptime() * 1000)).toISOString(),
  randomBytes(8).toString("hex"),
].join(",");

/** What the components of an agent share. */
export interface AssemblyParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  /** Its name in the configuration. */
  readonly agent: string;
  readonly deadLetters: DeadLetters;
  readonly ledger: Ledger;
  readonly crashWatch: CrashWatch;
  readonly erasures: Erasures;
  readonly observer: TransactionObserver;
  /** What services have used of the quotas of sources. */
  readonly quotas: QuotaBooks;
  /** Where sources show what arrives. */
  readonly arrivals: ArrivalSwitch;
  /** Absent while tracing is off. */
  readonly tracing?: Tracing;
  /** The metrics that a component makes by itself. */
  readonly metricsOf: (component: string) => Metrics;
  /** Seconds that the start of a source or sink may take, 0 is no limit; absent: a sink as long as a write. */
  readonly startTimeout?: number;
  /** Seconds to wait for another process that holds a folder; absent: not at all. */
  readonly lockWait?: number;
  /** Where the folders of channels are noted; absent: nowhere. */
  readonly folders?: UsedFolders;
}

/** The same for a channel. */
export interface ChannelAssembly extends AssemblyParts {
  readonly hasSinks: boolean;
}

type ContextParts = Pick<AssemblyParts, "agent" | "loggers" | "clock" | "dataDir">;

/** For what does not run, such as an explanation. */
export function plainContextOf(name: string, { agent, loggers, clock, dataDir }: ContextParts): Context {
  return { name, agent, log: loggers.of(name), dataDir, run: runOfProcess, now: clock.now };
}

export function contextOf(name: string, parts: AssemblyParts, reported: ReportedHealth): Context {
  return { ...plainContextOf(name, parts), report: reported.of(name), metrics: parts.metricsOf(name) };
}

export function channelContextOf(name: string, parts: ChannelAssembly, reported: ReportedHealth): ChannelContext {
  const context = contextOf(name, parts, reported);
  const removed = removedFolders(context.log, reported.of(`folder of ${name}`));
  const wait = { seconds: parts.lockWait ?? 0, log: context.log, ...removed };
  return {
    ...context,
    textCodecs: [notificationCodec],
    hasSinks: parts.hasSinks,
    reached: (log) => parts.ledger.account(name).reachedIn(log),
    lockFolder: async (folder, claim = {}) => {
      const lock = await lockFolder(folder, claim, wait);
      const unused = parts.folders?.add(folder);
      const release = async () => {
        unused?.();
        await lock.release();
      };
      return { release };
    },
  };
}

/** What the locks of folders tell: each is given the file of the lock. */
interface FolderWatch {
  lost(file: string): void;
  back(file: string): void;
}

/** Logs and reports the folders of a channel that are removed while they are in use. */
function removedFolders(log: Logger, report: (report: HealthReport) => void): FolderWatch {
  const gone = new Set<string>();
  const reportFirst = () => {
    const [file] = gone;
    if (file === undefined) return report({ state: "up" });
    const reason = `"${file}" was removed or moved while the agent uses its folder: what waits may not be on disk, and another agent could use the folder, too; put the folder back, or start the agent again`;
    report({ state: "down", reason, lasting: true });
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
