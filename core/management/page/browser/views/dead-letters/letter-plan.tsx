import { Dialog } from "../../parts/dialog.js";
import { count, many } from "../../parts/format.js";
import { Notice } from "../../parts/small.js";
import { ExplanationParts } from "../explanation.js";
import type { Plan, Replayed } from "./letter-calls.js";

interface PlanParts {
  readonly planned: Replayed;
  readonly onClose: () => void;
}

const outlooks: ReadonlyMap<string, string> = new Map([
  ["may-succeed", "may succeed"],
  ["fails-again", "will probably fail again"],
  ["dangerous", "ended the agent before"],
]);

/** What a replay would do, without doing it. */
export function LetterPlan({ planned: { replayed, underway, refused, plan }, onClose }: PlanParts) {
  return (
    <Dialog title="Dry run of a replay" onClose={onClose}>
      <p>
        {many(replayed, "dead letter")} would be replayed
        {underway === 0 ? "" : `, ${count(underway)} are being replayed already`}
        {refused === 0 ? "" : `, ${count(refused)} could not be`}. Nothing was changed.
      </p>
      {plan === undefined ? null : <Planned plan={plan} />}
    </Dialog>
  );
}

function Planned({ plan: { complete, sinks, examples } }: { readonly plan: Plan }) {
  return (
    <>
      {complete ? null : <p class="muted">This covers the first 10,000 of them.</p>}
      {sinks.map((sink) => (
        <SinkPlan key={sink.sink} sink={sink} />
      ))}
      {examples.length === 0 ? null : <h3>Examples</h3>}
      {examples.map(({ id, sink, outlook, explanation, failure }) => (
        <details key={`${sink} ${id}`}>
          <summary>
            {id} at {sink}, {outlooks.get(outlook) ?? outlook}
          </summary>
          {failure === undefined ? null : <Notice kind="bad">{failure}</Notice>}
          {explanation === undefined ? null : <ExplanationParts explanation={explanation} />}
        </details>
      ))}
    </>
  );
}

function SinkPlan({
  sink: { sink, letters, exists, health, findings = [], room, groups },
}: {
  readonly sink: Plan["sinks"][number];
}) {
  return (
    <section>
      <h3>
        Sink {sink}: {many(letters, "dead letter")}
      </h3>
      {exists ? null : <Notice kind="bad">The agent has no sink of this name.</Notice>}
      {health === undefined || health === "up" ? null : (
        <Notice kind="warning">The sink is {[health, ...findings].join(": ")}</Notice>
      )}
      {room !== undefined && room < letters ? (
        <Notice kind="warning">Its channel has room for {count(room)}.</Notice>
      ) : null}
      <ul>
        {groups.map(({ reason, code, letters: number, outlook, why }) => (
          <li key={`${reason} ${code}`}>
            {many(number, "dead letter")}, {reason} {code === undefined ? null : <code>{code}</code>}:{" "}
            <b>{outlooks.get(outlook) ?? outlook}</b>: {why}
          </li>
        ))}
      </ul>
    </section>
  );
}
