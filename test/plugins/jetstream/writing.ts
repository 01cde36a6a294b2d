import type { PartitionedLog } from "../../../core/log/index.js";

/** What is appended to a part until it is stopped. */
export type Writing = ReturnType<typeof writing>;

/** Appends one record after another to a part, and keeps where each stands, until it is stopped. */
export function writing(log: PartitionedLog, part: number, name: string) {
  const wrote: { readonly offset: number; readonly text: string }[] = [];
  const end = new AbortController();
  const running = (async () => {
    for (let count = 0; !end.signal.aborted; count += 1) {
      const text = `${name} ${count}`;
      const { offset } = await log.append(part, Buffer.from(text));
      wrote.push({ offset, text });
    }
  })();
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  let failure: unknown;
  running.catch((error: unknown) => {
    failure = error;
  });
  /** How many records it wrote; throws when it could not go on. */
  const count = (): number => {
    if (failure !== undefined) throw failure;
    return wrote.length;
  };
  return { part, wrote, count, stop };
}
