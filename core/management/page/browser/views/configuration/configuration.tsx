import { useEffect, useState } from "preact/hooks";
import { CallFailure } from "../../live/agent-calls.js";
import { calls, live } from "../../live/page-state.js";
import { useWatched } from "../../live/watched.js";
import { Confirm } from "../../parts/dialog.js";
import { many, moment } from "../../parts/format.js";
import { Changing, Failure, Notice, View } from "../../parts/small.js";
import { type UsedCall, useCall } from "../../parts/use-call.js";
import { type Difference, DifferencePart } from "./difference.js";
import { type Fault, FaultList } from "./faults.js";
import { PropertyList } from "./property-list.js";

interface Checked {
  readonly file: string;
  readonly agent: string;
  readonly usable: boolean;
  readonly faults: readonly Fault[];
  readonly same: boolean;
  readonly difference?: Difference;
  readonly last_reload?: { readonly time: string; readonly ok: boolean; readonly outcome?: string };
}

/** The properties file as it is now: its faults, and what a reload would change. */
export function ConfigurationView() {
  const revision = useWatched(live).snapshot?.agent.revision;
  const checked = useCall<undefined, Checked>(
    async (_given, signal) => await calls.ask("GET", "/v1/configuration", { signal }),
  );
  useEffect(() => void checked.run(undefined), [revision]);
  const { result } = checked;
  return (
    <View title="Configuration">
      <div class="actions">
        <button type="button" disabled={checked.running} onClick={() => void checked.run(undefined)}>
          {checked.running ? "Reading the file …" : "Read the file again"}
        </button>
      </div>
      <Failure failure={checked.failure} />
      {result === undefined ? null : <CheckedFile checked={result} onReloaded={() => void checked.run(undefined)} />}
      <PropertyList />
    </View>
  );
}

interface FileParts {
  readonly checked: Checked;
  readonly onReloaded: () => void;
}

function CheckedFile({ checked, onReloaded }: FileParts) {
  const { file, agent, usable, faults, same, difference, last_reload: last } = checked;
  return (
    <>
      <p>
        Agent <b>{agent}</b> of <code>{file}</code>
        {last === undefined
          ? ""
          : `; last reload ${moment(last.time)}: ${last.outcome ?? (last.ok ? "reloaded" : "failed")}`}
      </p>
      <section aria-labelledby="faults-title">
        <h2 id="faults-title">Faults of the file</h2>
        <FaultList faults={faults} />
      </section>
      <section aria-labelledby="difference-title">
        <h2 id="difference-title">What a reload would change</h2>
        {usable ? null : (
          <Notice kind="bad">The file has errors. A reload would be refused, and the agent goes on unchanged.</Notice>
        )}
        {usable && same ? <p>Nothing: the agent runs what the file says.</p> : null}
        {difference === undefined || same ? null : <DifferencePart difference={difference} />}
        <Changing what="Reloading">
          <Reload isUseful={usable && !same} onReloaded={onReloaded} />
        </Changing>
      </section>
    </>
  );
}

interface Reloaded {
  readonly outcome: string;
  readonly reason?: string;
  readonly started?: readonly string[];
  readonly stopped?: readonly string[];
  readonly faults?: readonly Fault[];
}

interface ReloadParts {
  readonly isUseful: boolean;
  readonly onReloaded: () => void;
}

function Reload({ isUseful, onReloaded }: ReloadParts) {
  const [asking, setAsking] = useState(false);
  const reload = useCall<undefined, Reloaded>(
    async (_given, signal) => await calls.ask("POST", "/v1/admin/reload", { signal }),
  );
  const run = async () => {
    await reload.run(undefined);
    setAsking(false);
    onReloaded();
  };
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class={isUseful ? "primary" : ""}
          disabled={reload.running}
          onClick={() => setAsking(true)}
        >
          {reload.running ? "Reloading …" : "Reload"}
        </button>
      </div>
      <Outcome reload={reload} />
      {asking ? (
        <Confirm
          title="Reload the configuration?"
          action="Reload"
          running={reload.running}
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>Components that differ are stopped and started again. Events in channels stay.</p>
        </Confirm>
      ) : null}
    </>
  );
}

const outcomes: ReadonlyMap<string, string> = new Map([
  ["reloaded", "Reloaded."],
  ["unchanged", "Nothing differed; nothing was changed."],
  ["running", "The reload takes longer than a minute; it goes on."],
]);

function Outcome({ reload: { result, failure } }: { readonly reload: UsedCall<undefined, Reloaded> }) {
  if (failure !== undefined) {
    const faults = faultsOf(failure);
    return (
      <Notice kind="bad">
        {failure.message}
        {faults.length === 0 ? null : <FaultList faults={faults} />}
      </Notice>
    );
  }
  if (result === undefined) return null;
  const { outcome, started = [], stopped = [] } = result;
  return (
    <Notice kind="good">
      {outcomes.get(outcome) ?? outcome} {stopped.length === 0 ? "" : `${many(stopped.length, "component")} stopped. `}
      {started.length === 0 ? "" : `${many(started.length, "component")} started.`}
    </Notice>
  );
}

function faultsOf(failure: Error): readonly Fault[] {
  if (!(failure instanceof CallFailure) || typeof failure.answer !== "object" || failure.answer === null) return [];
  const { faults }: { faults?: readonly Fault[] } = failure.answer;
  return faults ?? [];
}
