import { unlessAborted } from "deneb/sql";

/** The end of the last turn that was asked for, by file. */
const lastTurns = new Map<string, Promise<void>>();

/**
 * Runs the work when everything is done that was asked for before with one of these files, by whatever sink of this process.
 * SQLite itself knows no order: of several that write one file the unlucky one may wait until its time is up, again and again.
 * A signal that is aborted ends the wait.
 */
export async function inTurn<T>(files: readonly string[], signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // All places are taken at once: so those that need several files never wait for each other.
  const before = Promise.all(files.map((file) => lastTurns.get(file)));
  const turn = takenTurn(files);
  try {
    await unlessAborted(before, signal, () => undefined);
    return await work();
  } finally {
    // Who gave up may have left somebody behind it who must wait for those before both.
    void before.then(turn.end);
  }
}

function takenTurn(files: readonly string[]): { end(): void } {
  let settle: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  for (const file of files) lastTurns.set(file, ended);
  const end = () => {
    settle();
    for (const file of files) if (lastTurns.get(file) === ended) lastTurns.delete(file);
  };
  return { end };
}
