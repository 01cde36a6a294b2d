import type { ComponentChildren } from "preact";
import type { Component, ComponentState, LetterCounts } from "../../live/contract.js";
import { rate, secondsBetween, shortCount, shortDuration } from "../../parts/format.js";
import { HealthMark } from "../../parts/small.js";

interface CardParts {
  readonly component: Component;
  readonly state: ComponentState | undefined;
  readonly letters: LetterCounts | undefined;
  /** The time of the last message of the agent. */
  readonly now: string;
  /** A sentence on the sink group that it is in. */
  readonly group: string | undefined;
  /** Names of what it leads to. */
  readonly leadsTo: readonly string[];
  readonly top: number;
  readonly selected: boolean;
  readonly onSelect: () => void;
}

/** A component of the topology with its numbers of now. */
export function Card({ component, state, letters, now, group, leadsTo, top, selected, onSelect }: CardParts) {
  const { kind, name, type, nested } = component;
  const parts = nested.map((part) => part.type).join(" · ");
  return (
    <li class={`card ${kind} ${state?.health ?? "unknown"} ${selected ? "selected" : ""}`} style={{ top: `${top}px` }}>
      <div class="card-head">
        <button type="button" class="card-name" aria-pressed={selected} onClick={onSelect} title={name}>
          {name}
        </button>
        <HealthMark health={state?.health} />
      </div>
      <div class="muted card-type" title={parts}>
        {type}
        {parts === "" ? null : <span> · {parts}</span>}
      </div>
      {state === undefined ? <p>Not running</p> : numbersOf(component, state, { letters, now })}
      {kind === "channel" ? null : <Reason state={state} />}
      {leadsTo.length === 0 ? null : <div class="leads-to muted">to {leadsTo.join(", ")}</div>}
      {group === undefined ? null : <div class="leads-to muted">{group}</div>}
    </li>
  );
}

/** The first reason why it is not up, as far as it fits; all of them are in the details. */
function Reason({ state }: { readonly state: ComponentState | undefined }) {
  const [finding] = state?.findings ?? [];
  if (finding === undefined) return null;
  return (
    <div class={finding.state === "down" ? "reason bad-text" : "reason"} title={finding.reason}>
      {finding.reason}
    </div>
  );
}

interface Beside {
  readonly letters: LetterCounts | undefined;
  readonly now: string;
}

function numbersOf({ kind }: Component, state: ComponentState, { letters, now }: Beside): ComponentChildren {
  if (kind === "source") {
    return (
      <Numbers>
        <Figure value={rate(state.accepted_per_second)} what="accepted/s" />
        <Figure value={rate(state.refused_per_second)} what="refused/s" bad={(state.refused_per_second ?? 0) > 0} />
        <Figure value={shortCount(state.refused)} what="refused" />
      </Numbers>
    );
  }
  if (kind === "channel") return <Backlog state={state} now={now} />;
  const waiting = letters?.waiting ?? 0;
  return (
    <Numbers>
      <Figure value={rate(state.stored_per_second)} what="stored/s" />
      <Figure value={shortCount(state.stored)} what="stored" />
      <Figure value={shortCount(waiting)} what={waiting === 1 ? "dead letter" : "dead letters"} bad={waiting > 0} />
    </Numbers>
  );
}

function Backlog({ state, now }: { readonly state: ComponentState; readonly now: string }) {
  const { events, capacity, oldest, oldest_exact: exact, seconds_until_full: untilFull } = state;
  const age = secondsBetween(oldest, now);
  const share = events === undefined || capacity === undefined ? 0 : Math.min(1, events / capacity);
  return (
    <>
      <Numbers>
        <Figure value={shortCount(events)} what={capacity === undefined ? "waiting" : `of ${shortCount(capacity)}`} />
        <Figure value={age === undefined ? "–" : `${exact === false ? "> " : ""}${shortDuration(age)}`} what="oldest" />
        <Figure
          value={untilFull === undefined ? "–" : shortDuration(untilFull)}
          what="until full"
          bad={untilFull !== undefined && untilFull < 600}
        />
      </Numbers>
      <div class="bar" aria-hidden="true">
        <div class={share > 0.8 ? "bad" : ""} style={{ width: `${Math.max(share > 0 ? 1 : 0, share * 100)}%` }} />
      </div>
    </>
  );
}

function Numbers({ children }: { readonly children: ComponentChildren }) {
  return <div class="numbers">{children}</div>;
}

interface FigureParts {
  readonly value: string;
  readonly what: string;
  readonly bad?: boolean;
}

function Figure({ value, what, bad = false }: FigureParts) {
  return (
    <span class={bad ? "number bad" : "number"}>
      <b>{value}</b> <span>{what}</span>
    </span>
  );
}
