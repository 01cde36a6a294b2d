import { useState } from "preact/hooks";
import { Confirm } from "../../parts/dialog.js";
import { count, many } from "../../parts/format.js";
import { Failure } from "../../parts/small.js";
import { useCall } from "../../parts/use-call.js";
import { type Dropped, dropLetters, type LetterChoice, type Replayed, replayLetters } from "./letter-calls.js";
import { LetterPlan } from "./letter-plan.js";
import { scopeOf } from "./letter-search.js";

interface ActionsParts {
  readonly choice: LetterChoice;
  /** Whether the list is empty, so that nothing can be done. */
  readonly isEmpty: boolean;
  /** Whether the fields say something else than what the list was searched by. */
  readonly isChanged: boolean;
  /** With a sentence that says what was done. */
  readonly onDone: (sentence: string) => void;
}

/** Buttons for the letters that are ticked, or for all that match the search. */
export function LetterActions({ choice, isEmpty, isChanged, onDone }: ActionsParts) {
  const [asking, setAsking] = useState<"replay" | "drop" | undefined>(undefined);
  const plan = useCall<undefined, Replayed>((_given, signal) => replayLetters(choice, true, signal));
  const replay = useCall<undefined, Replayed>((_given, signal) => replayLetters(choice, false, signal));
  const drop = useCall<undefined, Dropped>((_given, signal) => dropLetters(choice, signal));
  const [last, setLast] = useState<"plan" | "replay" | "drop">("plan");
  const which = choice.ids.length === 0 ? "all that match" : many(choice.ids.length, "dead letter");
  // A reader who has filled in the fields takes what matches them for what would be dropped.
  const isUnclear = choice.ids.length === 0 && isChanged;
  const isOff = isEmpty || isUnclear;
  const isUnderWay = replay.running || drop.running;
  const close = () => setAsking(undefined);
  const doPlan = () => {
    setLast("plan");
    void plan.run(undefined);
  };
  const doReplay = async () => {
    setLast("replay");
    const result = await replay.run(undefined);
    close();
    if (result !== undefined) onDone(replaySentence(result));
  };
  const doDrop = async () => {
    setLast("drop");
    const result = await drop.run(undefined);
    close();
    if (result !== undefined) onDone(dropSentence(result));
  };
  return (
    <>
      <div class="actions">
        <button type="button" disabled={isOff || plan.running} onClick={() => doPlan()}>
          {plan.running ? "Looking ahead …" : `Dry run of ${which}`}
        </button>
        <button type="button" disabled={isOff || isUnderWay} onClick={() => setAsking("replay")}>
          {replay.running ? "Replaying …" : `Replay ${which}`}
        </button>
        <button type="button" class="danger" disabled={isOff || isUnderWay} onClick={() => setAsking("drop")}>
          {drop.running ? "Dropping …" : `Drop ${which}`}
        </button>
      </div>
      {isUnclear ? (
        <p class="muted">The fields have changed. Search, or tick dead letters, to replay or drop.</p>
      ) : null}
      <Failure failure={{ plan, replay, drop }[last].failure} />
      {plan.result === undefined ? null : <LetterPlan planned={plan.result} onClose={plan.clear} />}
      {asking === "replay" ? (
        <Confirm
          title={`Replay ${which}?`}
          action="Replay"
          running={replay.running}
          onConfirm={doReplay}
          onClose={close}
        >
          <Scope choice={choice} />
          <p>Their events go to their sinks again. What fails again becomes a dead letter again.</p>
        </Confirm>
      ) : null}
      {asking === "drop" ? (
        <Confirm title={`Drop ${which}?`} action="Drop" running={drop.running} onConfirm={doDrop} onClose={close}>
          <Scope choice={choice} />
          <p>Their events are deleted from the disk. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** What all that match are, for those who took a field for filled in that is not. */
function Scope({ choice: { filter, ids } }: { readonly choice: LetterChoice }) {
  return ids.length > 0 ? null : <p class="message">{scopeOf(filter)}</p>;
}

function replaySentence({ replayed, underway }: Replayed): string {
  return `The replay of ${many(replayed, "dead letter")} was started${also(underway)}.`;
}

function dropSentence({ dropped, underway }: Dropped): string {
  return `${many(dropped, "dead letter")} dropped${also(underway)}.`;
}

function also(underway: number): string {
  return underway === 0 ? "" : `; ${count(underway)} were being replayed already`;
}
