/** How the process of a worker ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why there was no process. */
  readonly failure?: string;
  /** Milliseconds that it ran. */
  readonly lasted: number;
  /** Events that it had in memory when it last reported, which a signal has ended with it. */
  readonly lost: number;
}

export function endText({ code, signal, failure }: End): string {
  if (failure !== undefined) return `it cannot be started: ${failure}`;
  return `it ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}`;
}

/**
 * Whether a signal that asks for a stop has ended it, which is no failure of a process that was still loading. One that has loaded
 * leaves these signals, which a terminal and systemd send to all processes, to its supervisor.
 */
export function isEndedByStop({ code, signal }: End): boolean {
  return signal === "SIGTERM" || signal === "SIGINT" || (code !== null && code > 128);
}

/** For the log. */
export function endFields({ code, signal, failure, lost }: End): object {
  if (failure !== undefined) return { reason: failure };
  if (signal === null) return { exitCode: code };
  return lost === 0 ? { signal } : { signal, eventsLost: lost };
}
