const open = new Set<() => Promise<void>>();

/** Runs the work and then what undoes it, also when the harness is ended by a signal in between. */
export async function unwinding<T>(undo: () => Promise<void>, act: () => Promise<T>): Promise<T> {
  let undone: Promise<void> | undefined;
  const once = async () => {
    undone ??= undo();
    await undone;
  };
  open.add(once);
  try {
    return await act();
  } finally {
    await once();
    open.delete(once);
  }
}

/** Undoes what is open, the last one first; a part that fails does not keep the others. */
export async function unwindAll(): Promise<void> {
  for (const undo of [...open].reverse()) await undo().catch(() => undefined);
}
