import { useEffect, useRef, useState } from "preact/hooks";

/** Where a call of a view stands. The last result stays while the next one is on its way. */
interface CallState<Result> {
  readonly running: boolean;
  readonly result?: Result | undefined;
  readonly failure?: Error | undefined;
}

export interface UsedCall<Given, Result> extends CallState<Result> {
  /** Calls; a call that is still running is abandoned. Resolves to the result, undefined for a failure. */
  readonly run: (given: Given) => Promise<Result | undefined>;
  readonly clear: () => void;
  /** Abandons a call that is running; the last result stays. */
  readonly stop: () => void;
}

/** A call of a view, which ends with the view. */
export function useCall<Given, Result>(
  call: (given: Given, signal: AbortSignal) => Promise<Result>,
): UsedCall<Given, Result> {
  const [state, setState] = useState<CallState<Result>>({ running: false });
  const current = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const run = async (given: Given) => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    setState(({ result }) => ({ running: true, result }));
    try {
      const result = await call(given, controller.signal);
      if (controller.signal.aborted) return undefined;
      setState({ running: false, result });
      return result;
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      const failure = error instanceof Error ? error : new Error(String(error));
      setState(({ result }) => ({ running: false, result, failure }));
      return undefined;
    }
  };
  const clear = () => {
    current.current?.abort();
    setState({ running: false });
  };
  const stop = () => {
    current.current?.abort();
    setState(({ result }) => ({ running: false, result }));
  };
  return { ...state, run, clear, stop };
}
