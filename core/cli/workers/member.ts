import type cluster from "node:cluster";
import path from "node:path";
import type { WorkerView } from "../../management/workers/team.js";
import { folderOf } from "./folders.js";
import type { SupervisorMessage, WorkerRole } from "./role.js";

/** A worker as its supervisor keeps it, from one process to the next. */
export interface Member extends WorkerRole {
  state: WorkerView["state"];
  since: Date;
  reason: string | undefined;
  process: ReturnType<typeof cluster.fork> | undefined;
  /** Starts in a row that did not last. */
  failures: number;
  inMemory: number;
  /** Looks of the supervisor since the process was started or has reported. */
  looks: number;
  isKilled: boolean;
  restart: NodeJS.Timeout | undefined;
}

interface MemberTeam {
  readonly of: number;
  readonly dataDir: string;
  /** Folder of the sockets. */
  readonly sockets: string;
  readonly now: () => Date;
}

/** A worker that is about to be started. */
export function memberOf(
  { of, dataDir, sockets, now }: MemberTeam,
  { number, receives }: Pick<WorkerRole, "number" | "receives">,
): Member {
  return {
    number,
    of,
    receives,
    dataDir: folderOf(dataDir, number),
    socket: path.join(sockets, `${number}`),
    state: "starting",
    since: now(),
    reason: undefined,
    process: undefined,
    failures: 0,
    inMemory: 0,
    looks: 0,
    isKilled: false,
    restart: undefined,
  };
}

export function tell({ process }: Pick<Member, "process">, message: SupervisorMessage): void {
  if (process?.isConnected() === true) process.send(message);
}
