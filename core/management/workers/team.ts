/** A worker as the supervisor knows it. */
export interface WorkerView {
  /** From 1. */
  readonly number: number;
  /** `silent`: it has run, and does not report any more. */
  readonly state: "starting" | "running" | "silent" | "restarting" | "stopping";
  readonly pid: number | undefined;
  /** Of the state. */
  readonly since: Date;
  /** Why it is silent or started again; undefined otherwise. */
  readonly reason: string | undefined;
  /** False for one that only stores what an earlier, larger number of workers left. */
  readonly receives: boolean;
  /** Path of the unix socket of its management interface. */
  readonly socket: string;
}

/** The workers of one agent. */
export interface Team {
  readonly workers: readonly WorkerView[];
}

/** Those that can be asked, the lowest number first: sources that cannot share a port run in worker 1 only. */
export function runningIn({ workers }: Team): readonly WorkerView[] {
  return inOrder(workers).filter(({ state }) => state === "running");
}

/** Whether one of the workers does not report any more. */
export function isSilent({ workers }: Team, { number }: Pick<WorkerView, "number">): boolean {
  return workers.some((worker) => worker.number === number && worker.state === "silent");
}

export function inOrder(workers: readonly WorkerView[]): readonly WorkerView[] {
  return workers.toSorted((one, other) => one.number - other.number);
}

export function nameOf({ number }: Pick<WorkerView, "number">): string {
  return `worker ${number}`;
}

/** Why a worker that does not run cannot be asked. */
export function reasonOfState({ state, reason }: Pick<WorkerView, "state" | "reason">): string {
  return reason === undefined ? state : `${state}: ${reason}`;
}

/** A worker without an answer, and why: `is restarting`, `does not answer`. */
export interface Absent {
  readonly worker: WorkerView;
  readonly reason: string;
}

/** The workers that are not among these, which have answered. */
export function absent({ workers }: Team, answered: readonly Pick<WorkerView, "number">[]): readonly Absent[] {
  const present = new Set(answered.map(({ number }) => number));
  const away = inOrder(workers).filter(({ number }) => !present.has(number));
  return away.map((worker) => ({ worker, reason: reasonOfAbsence(worker) }));
}

function reasonOfAbsence(worker: WorkerView): string {
  return worker.state === "running" ? "does not answer" : `is ${reasonOfState(worker)}`;
}
