import { useEffect, useRef, useState } from "preact/hooks";
import { useCall } from "../../parts/use-call.js";
import { type FoundLetters, type Letter, searchLetters } from "./letter-calls.js";
import { type LetterFilter, noFilter } from "./letter-search.js";

/** Milliseconds after a change of the counts until the list is read again. */
const settle = 700;

interface LetterList {
  /** What the letters were searched by. */
  readonly filter: LetterFilter;
  /** Undefined until they were read. */
  readonly letters: readonly Letter[] | undefined;
  /** Whether the search is not at its end. */
  readonly hasMore: boolean;
  /** Workers whose letters are not among them, with the reason. */
  readonly missing: readonly string[];
  readonly isGoingOn: boolean;
  readonly failure: Error | undefined;
  readonly search: (filter: LetterFilter) => void;
  readonly goOn: () => Promise<void>;
}

/** The newest letters that match, read again after `changes` until the reader asks for more of them. */
export function useLetterList(changes: string): LetterList {
  const [filter, setFilter] = useState(noFilter);
  const [more, setMore] = useState<FoundLetters | undefined>(undefined);
  const newest = useCall<LetterFilter, FoundLetters>((given, signal) => searchLetters(given, undefined, signal));
  const next = useCall<string, FoundLetters>((cursor, signal) => searchLetters(filter, cursor, signal));
  const read = useRef("");
  const readNewest = (given: LetterFilter) => {
    read.current = changes;
    void newest.run(given);
  };
  // A search that is under way is not begun again by each letter that comes: in a large store it would never end. The
  // letters that were added would no longer follow the newest, so they stay until the reader searches again.
  const isHeld = newest.running || next.running || more !== undefined;
  useEffect(() => {
    if (isHeld || read.current === changes) return;
    const timer = setTimeout(() => readNewest(filter), newest.result === undefined ? 0 : settle);
    return () => clearTimeout(timer);
  }, [changes, isHeld]);
  const found = more ?? newest.result;
  return {
    filter,
    letters: found?.letters,
    hasMore: found?.next !== undefined,
    missing: found?.missing ?? [],
    isGoingOn: next.running,
    failure: newest.failure ?? next.failure,
    search: (given) => {
      // What others match is not what would be replayed or dropped now.
      if (given !== filter) newest.clear();
      next.clear();
      setMore(undefined);
      setFilter(given);
      readNewest(given);
    },
    goOn: async () => {
      if (found?.next === undefined) return;
      newest.stop();
      const added = await next.run(found.next);
      if (added !== undefined) setMore({ ...added, letters: [...found.letters, ...added.letters] });
    },
  };
}
