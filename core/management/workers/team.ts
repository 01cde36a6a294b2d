/** A worker as the supervisor knows it. */
export interface WorkerView {
  /** From 1. */
  readonly number: number;
  readonly state: "starting" | "running" | "restarting" | "stopping";
  readonly pid: number | undefined;
  /** Of the state. */
  readonly since: Date;
  /** Why it is started again; undefined otherwise. */
  readonly reason: string | undefined;
  /** False for one that only stores what an earlier, larger number of workers left. */
  readonly receives: boolean;
  /** Path of the socket of its management interface. */
  readonly socket: string;
}

/** The workers of an agent, in order of their numbers. */
export interface Team {
  readonly workers: readonly WorkerView[];
}

/** Tokens that workers take; callers need none where they are absent. */
export interface WorkerTokens {
  readonly read: string;
  readonly admin: string;
}

/** A worker as calls show it. */
export function shownWorker({ number, state, pid, since, reason, receives }: WorkerView) {
  return {
    number,
    state,
    ...(pid === undefined ? {} : { pid }),
    since: since.toISOString(),
    receives,
    ...(reason === undefined ? {} : { reason }),
  };
}
