import { useEffect, useState } from "preact/hooks";
import { calls, live } from "../../live/page-state.js";
import { Choice, Field } from "../../parts/field.js";
import { bytes, count, duration, many, secondsBetween } from "../../parts/format.js";
import { Changing, Failure, Notice, View } from "../../parts/small.js";
import { useCall } from "../../parts/use-call.js";
import { type Arrival, ArrivalItem } from "./arrival-item.js";

interface Sample {
  readonly on: boolean;
  readonly until?: string;
  readonly seen?: { readonly accepted: number; readonly refused: number };
  readonly skipped?: number;
  /** How far was read; sent back. */
  readonly last?: number | string;
  readonly arrivals: readonly Arrival[];
}

/** Milliseconds between two questions for more. */
const pause = 1000;
const mostShown = 200;

/** A sample of what reaches the sources now, accepted or refused, while somebody looks. */
export function ArrivalsView() {
  return (
    <View title="What arrives now">
      <p>
        A sample of notifications as the sources receive them, accepted or refused. It is off until it is switched on,
        for a limited time; secrets are masked. At most 20 a second are kept.
      </p>
      <Changing what="Seeing what arrives">
        <Watching />
      </Changing>
    </View>
  );
}

function Watching() {
  const [sample, setSample] = useState<Sample | undefined>(undefined);
  const add = (more: Sample) =>
    setSample((before) => ({
      ...more,
      arrivals: [...(before === undefined ? [] : before.arrivals), ...more.arrivals].slice(-mostShown),
    }));
  const [failure, setFailure] = useState<Error | undefined>(undefined);
  const on = sample?.on === true;
  const last = sample?.last;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const ask = () =>
      calls
        .ask<Sample>("GET", "/v1/admin/arrivals", { query: { after: last, limit: 200 }, signal })
        .then(add)
        .then(() => setFailure(undefined))
        .catch((error: Error) => signal.aborted || setFailure(error));
    const timer = setTimeout(() => void ask(), sample === undefined && failure === undefined ? 0 : pause);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [sample, failure]);
  const arrivals = [...(sample?.arrivals ?? [])].reverse();
  return (
    <>
      <Switch on={on} onChange={(next) => setSample(next.on ? { ...next, arrivals: [] } : next)} />
      <Failure failure={failure} />
      {sample === undefined ? null : <State sample={sample} />}
      {arrivals.length === 0 && on ? <p>Nothing has arrived since it was switched on.</p> : null}
      <ul class="arrivals">
        {arrivals.map((arrival) => (
          <ArrivalItem key={arrival.seq} arrival={arrival} />
        ))}
      </ul>
    </>
  );
}

function State({ sample: { on, until, seen, skipped, arrivals } }: { readonly sample: Sample }) {
  // By the clock of the agent: that of the browser may be wrong.
  const rest = until === undefined ? undefined : secondsBetween(live.value.snapshot?.time, until);
  return (
    <p class="muted">
      {on ? `On${rest === undefined ? "" : ` for another ${duration(rest)}`}` : "Off"}
      {seen === undefined ? "" : `; ${count(seen.accepted)} accepted, ${count(seen.refused)} refused were seen`}
      {(skipped ?? 0) > 0 ? `, ${many(skipped ?? 0, "other")} are not kept` : ""}
      {arrivals.length === 0 ? "" : `; the newest ${arrivals.length}, newest first`}
    </p>
  );
}

const periods = [
  { value: "60", text: "1 minute" },
  { value: "300", text: "5 minutes" },
  { value: "3600", text: "1 hour" },
] as const;

const results = [
  { value: "all", text: "accepted and refused" },
  { value: "accepted", text: "accepted" },
  { value: "refused", text: "refused" },
] as const;

const sizes = [0, 512, 2048, 16_384].map((size) => ({
  value: String(size),
  text: size === 0 ? "none" : `the first ${bytes(size)}`,
}));

interface SwitchParts {
  readonly on: boolean;
  readonly onChange: (sample: Sample) => void;
}

function Switch({ on, onChange }: SwitchParts) {
  const [given, setGiven] = useState({ seconds: "300", result: "all", bytes: "2048", service: "", entity: "" });
  const change = (more: Partial<typeof given>) => setGiven({ ...given, ...more });
  const { running, failure, run } = useCall<boolean, Sample>(async (turnOn, signal) => {
    if (!turnOn) {
      await calls.ask("DELETE", "/v1/admin/arrivals", { signal });
      return { on: false, arrivals: [] };
    }
    const { seconds, result, bytes: size, service, entity } = given;
    const filter = { ...(service === "" ? {} : { service }), ...(entity === "" ? {} : { entity }) };
    const body = { seconds: Number(seconds), bytes: Number(size), result, ...filter };
    return await calls.ask("PUT", "/v1/admin/arrivals", { body, signal });
  });
  const turn = (next: boolean) => void run(next).then((sample) => sample !== undefined && onChange(sample));
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        turn(true);
      }}
    >
      <Choice label="For" value={given.seconds} onValue={(seconds) => change({ seconds })} options={periods} />
      <Choice label="Which" value={given.result} onValue={(result) => change({ result })} options={results} />
      <Choice label="Of each body" value={given.bytes} onValue={(size) => change({ bytes: size })} options={sizes} />
      <Field label="Only service" value={given.service} onValue={(service) => change({ service })} />
      <Field label="Entity id contains" value={given.entity} onValue={(entity) => change({ entity })} />
      <div class="actions">
        <button type="submit" class="primary" disabled={running}>
          {on ? "Start again" : "Switch on"}
        </button>
        <button type="button" disabled={running || !on} onClick={() => turn(false)}>
          Switch off
        </button>
      </div>
      {failure === undefined ? null : <Notice kind="bad">{failure.message}</Notice>}
    </form>
  );
}
