import { useEffect, useState } from "preact/hooks";
import { live } from "../live/page-state.js";
import { useWatched } from "../live/watched.js";
import { count, many } from "../parts/format.js";
import { Changing, Failure, Notice, View } from "../parts/small.js";
import { useCall } from "../parts/use-call.js";
import { LetterActions } from "./letter-actions.js";
import {
  type FoundLetters,
  isSameFilter,
  type Letter,
  type LetterFilter,
  noFilter,
  searchLetters,
} from "./letter-calls.js";
import { LetterFilterForm } from "./letter-filter.js";
import { LetterLook } from "./letter-look.js";
import { LetterTable } from "./letter-table.js";

/** Milliseconds after a change of the counts until the list is read again. */
const settle = 700;

/** Events that could not be stored: search, look, dry run, replay, drop. */
export function LettersView() {
  const { snapshot } = useWatched(live);
  const counts = Object.values(snapshot?.dead_letters ?? {});
  const waiting = counts.reduce((sum, one) => sum + one.waiting, 0);
  const replaying = counts.reduce((sum, one) => sum + one.replaying, 0);
  return (
    <View title="Dead letters">
      <p>
        {snapshot === undefined ? "Waiting for the agent …" : `${many(waiting, "dead letter")} waiting`}
        {replaying === 0 ? "" : `, ${count(replaying)} being replayed`}
      </p>
      <Letters changes={`${waiting} ${replaying}`} />
    </View>
  );
}

/** `changes` differs when letters came or went. */
function Letters({ changes }: { readonly changes: string }) {
  const [draft, setDraft] = useState(noFilter);
  const [filter, setFilter] = useState(noFilter);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  // The letter itself: others push it out of the list, or it is dropped, while it is read.
  const [looked, setLooked] = useState<Letter | undefined>(undefined);
  const [done, setDone] = useState<string | undefined>(undefined);
  const [more, setMore] = useState<FoundLetters["letters"]>([]);
  const search = useCall<LetterFilter, FoundLetters>((given, signal) => searchLetters(given, undefined, signal));
  const next = useCall<string, FoundLetters>((cursor, signal) => searchLetters(filter, cursor, signal));
  const { run } = search;
  // The pages that were added would no longer follow the first one, so they stay until the reader searches again.
  const isExtended = more.length > 0;
  useEffect(() => {
    if (isExtended) return;
    const timer = setTimeout(() => void run(filter), search.result === undefined ? 0 : settle);
    return () => clearTimeout(timer);
  }, [filter, changes]);
  const letters = [...(search.result?.letters ?? []), ...more];
  const cursor = isExtended ? next.result?.next : search.result?.next;
  const start = (given: LetterFilter) => {
    setMore([]);
    setTicked(new Set());
    setDone(undefined);
    next.clear();
    if (given === filter) void run(given);
    else setFilter(given);
  };
  const follow = async (from: string) => {
    const found = await next.run(from);
    if (found !== undefined) setMore([...more, ...found.letters]);
  };
  const acted = (sentence: string) => {
    setMore([]);
    setTicked(new Set());
    setDone(sentence);
    void run(filter);
  };
  return (
    <>
      <LetterFilterForm filter={draft} onChange={setDraft} onSearch={() => start(draft)} />
      <Changing what="Looking into dead letters, replaying and dropping them">
        <LetterActions
          choice={{ filter, ids: [...ticked] }}
          isEmpty={letters.length === 0}
          isChanged={!isSameFilter(draft, filter)}
          onDone={acted}
        />
      </Changing>
      {done === undefined ? null : <Notice kind="good">{done}</Notice>}
      <Failure failure={search.failure ?? next.failure} />
      {search.result === undefined ? null : (
        <LetterTable letters={letters} ticked={ticked} onTick={setTicked} onLook={setLooked} />
      )}
      {cursor === undefined ? null : (
        <div class="actions">
          <button type="button" disabled={next.running} onClick={() => void follow(cursor)}>
            Show more
          </button>
        </div>
      )}
      {looked === undefined ? null : <LetterLook letter={looked} onClose={() => setLooked(undefined)} />}
    </>
  );
}
