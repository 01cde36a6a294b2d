import { useState } from "preact/hooks";
import { live } from "../../live/page-state.js";
import { useWatched } from "../../live/watched.js";
import { count, many } from "../../parts/format.js";
import { Changing, Failure, Notice, View } from "../../parts/small.js";
import { LetterActions } from "./letter-actions.js";
import type { Letter } from "./letter-calls.js";
import { LetterFilterForm } from "./letter-filter.js";
import { useLetterList } from "./letter-list.js";
import { LetterLook } from "./letter-look.js";
import { isSameFilter, type LetterFilter, noFilter } from "./letter-search.js";
import { LetterTable } from "./letter-table.js";

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
  const list = useLetterList(changes);
  const { filter, letters } = list;
  const [draft, setDraft] = useState(noFilter);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  // The letter itself: others push it out of the list, or it is dropped, while it is read.
  const [looked, setLooked] = useState<Letter | undefined>(undefined);
  const [done, setDone] = useState<string | undefined>(undefined);
  const search = (given: LetterFilter, sentence: string | undefined) => {
    setTicked(new Set());
    setDone(sentence);
    list.search(given);
  };
  return (
    <>
      <LetterFilterForm filter={draft} onChange={setDraft} onSearch={() => search(draft, undefined)} />
      <Changing what="Looking into dead letters, replaying and dropping them">
        <LetterActions
          choice={{ filter, ids: [...ticked] }}
          isEmpty={!list.hasMore && (letters ?? []).length === 0}
          isChanged={!isSameFilter(draft, filter)}
          onDone={(sentence) => search(filter, sentence)}
        />
      </Changing>
      {done === undefined ? null : <Notice kind="good">{done}</Notice>}
      <Failure failure={list.failure} />
      {list.missing.length === 0 ? null : <p class="bad">Not all are shown: {list.missing.join("; ")}.</p>}
      {letters === undefined ? null : (
        <LetterTable
          letters={letters}
          isComplete={!list.hasMore}
          ticked={ticked}
          onTick={setTicked}
          onLook={setLooked}
        />
      )}
      {list.hasMore ? (
        <div class="actions">
          <button type="button" disabled={list.isGoingOn} onClick={() => void list.goOn()}>
            {list.isGoingOn ? "Searching …" : "Show more"}
          </button>
        </div>
      ) : null}
      {looked === undefined ? null : <LetterLook letter={looked} onClose={() => setLooked(undefined)} />}
    </>
  );
}
