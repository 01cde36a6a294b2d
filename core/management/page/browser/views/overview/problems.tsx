import { useEffect, useState } from "preact/hooks";
import type { Snapshot } from "../../live/contract.js";
import { count, many } from "../../parts/format.js";
import { Findings } from "./findings.js";

interface ProblemsParts {
  readonly snapshot: Snapshot;
  readonly onSelect: (id: string) => void;
}

/** Components that are shown with their reasons; the others are counted. */
const mostShown = 10;

/** What is wrong now, with reasons; read out when a component changes, not with each second. */
export function Problems({ snapshot, onSelect }: ProblemsParts) {
  const { agent, components, time } = snapshot;
  const ill = Object.entries(components).filter(([, { health }]) => health !== "up");
  const down = ill.filter(([, { health }]) => health === "down");
  const inOrder = [...down, ...ill.filter(([, { health }]) => health !== "down")];
  const all = Object.keys(components).length;
  const waiting = Object.values(snapshot.dead_letters).reduce((sum, letters) => sum + letters.waiting, 0);
  const sentence =
    ill.length === 0
      ? `All ${many(all, "component")} are up.`
      : `Of ${many(all, "component")}, ${partsOf(down.length, ill.length - down.length)}.`;
  return (
    <section
      class={`panel problems ${down.length > 0 ? "bad" : ill.length > 0 ? "warning" : "good"}`}
      aria-label="Health"
    >
      <p class="headline">
        {agent.ready ? "Ready." : "Not ready."} {sentence}
      </p>
      <Announcement text={`${agent.ready ? "Ready." : "Not ready."} ${sentence}`} />
      <ul hidden={inOrder.length === 0}>
        {inOrder.slice(0, mostShown).map(([id, { findings = [] }]) => (
          <li key={id}>
            <button type="button" class="link" onClick={() => onSelect(id)}>
              {id.replace(":", " ")}
            </button>
            <Findings findings={findings} now={time} />
          </li>
        ))}
      </ul>
      {inOrder.length > mostShown ? <p class="muted">And {many(inOrder.length - mostShown, "other")}.</p> : null}
      {agent.last_reload?.ok === false ? (
        <p>
          The last reload failed. <a href="#/configuration">See the configuration</a>
        </p>
      ) : null}
      {waiting === 0 ? null : (
        <p>
          {many(waiting, "dead letter waits", "dead letters wait")}. <a href="#/dead-letters">See dead letters</a>
        </p>
      )}
    </section>
  );
}

/** `2 are down and 1 is degraded`. */
function partsOf(down: number, degraded: number): string {
  const part = (number: number, state: string) =>
    number === 0 ? [] : [`${count(number)} ${number === 1 ? "is" : "are"} ${state}`];
  return [...part(down, "down"), ...part(degraded, "degraded")].join(" and ");
}

/** Milliseconds that a sentence must hold before it is read out: states that flicker are not. */
const steady = 3000;

/** Read out by screen readers when it changes; the first one is not, because the page has just been read. */
function Announcement({ text }: { readonly text: string }) {
  const [spoken, setSpoken] = useState({ first: text, text: "" });
  useEffect(() => {
    const timer = setTimeout(() => {
      setSpoken((before) => (text === before.first && before.text === "" ? before : { ...before, text }));
    }, steady);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="hidden" role="status">
      {spoken.text}
    </p>
  );
}
