import { useState } from "preact/hooks";
import type { Snapshot, Topology, Worker } from "../../live/contract.js";
import { live } from "../../live/page-state.js";
import { useWatched } from "../../live/watched.js";
import { Chart } from "../../parts/chart.js";
import { Field } from "../../parts/field.js";
import { many } from "../../parts/format.js";
import { View } from "../../parts/small.js";
import { type Choice, drawn, found } from "./chosen-components.js";
import { ComponentDetails } from "./component-details.js";
import { ComponentTable } from "./component-table.js";
import { TopologyGraph } from "./graph.js";
import { Problems } from "./problems.js";

/** The agent as a whole: what is wrong, what moves, and how its components are linked. */
export function Overview() {
  const { snapshot, topology } = useWatched(live);
  return (
    <View title="Overview">
      {snapshot === undefined || topology === undefined ? (
        <p>Waiting for the agent …</p>
      ) : (
        <Known snapshot={snapshot} topology={topology} />
      )}
    </View>
  );
}

interface KnownParts {
  readonly snapshot: Snapshot;
  readonly topology: Topology;
}

/** Components above which a reader needs to search. */
const few = 12;

function Known({ snapshot, topology }: KnownParts) {
  const [choice, setChoice] = useState<Choice>({ text: "", troubled: false });
  const [selected, setSelected] = useState<string | undefined>(undefined);
  const matching = found(topology.components, snapshot.components, choice);
  const part = drawn(topology, matching);
  const component = topology.components.find(({ id }) => id === selected);
  return (
    <>
      <WorkersLine workers={snapshot.agent.workers} />
      <Problems snapshot={snapshot} onSelect={setSelected} />
      <section class="panel" aria-label="All together">
        <Chart
          title="Notifications accepted and events stored per second"
          samples={live.history.of()}
          series={[
            { key: "in", label: "Accepted/s" },
            { key: "out", label: "Stored/s" },
            { key: "refused", label: "Refused/s" },
          ]}
        />
      </section>
      {topology.components.length <= few ? null : (
        <div class="filter">
          <Field
            label="Find components"
            type="search"
            value={choice.text}
            onValue={(text) => setChoice({ ...choice, text })}
            placeholder="Name or type"
          />
          <label class="check">
            <input
              type="checkbox"
              checked={choice.troubled}
              onChange={(event) => setChoice({ ...choice, troubled: event.currentTarget.checked })}
            />
            Only those that are not up
          </label>
        </div>
      )}
      <section aria-labelledby="topology-title">
        <h2 id="topology-title">Topology</h2>
        {part.components.length === topology.components.length ? null : (
          <p class="muted">
            {part.components.length} of {many(topology.components.length, "component")} are drawn: {sentenceOn(choice)}
          </p>
        )}
        <TopologyGraph topology={part} snapshot={snapshot} selected={selected} onSelect={setSelected} />
      </section>
      {component === undefined ? null : (
        <ComponentDetails
          component={component}
          topology={topology}
          snapshot={snapshot}
          onClose={() => setSelected(undefined)}
        />
      )}
      {topology.components.length <= few ? null : (
        <ComponentTable components={matching} snapshot={snapshot} onSelect={setSelected} />
      )}
    </>
  );
}

/** How many processes of the agent run, and what the others do; nothing for an agent of one process. */
function WorkersLine({ workers }: { readonly workers: readonly Worker[] | undefined }) {
  if (workers === undefined) return null;
  const away = workers.filter(({ state }) => state !== "running");
  const states = away.map(({ number, state, reason }) => {
    return `worker ${number} is ${state}${reason === undefined ? "" : `: ${reason}`}`;
  });
  return (
    <p class={away.length === 0 ? "muted" : "bad"}>
      {[`${many(workers.length - away.length, "worker")} running`, ...states].join("; ")}
    </p>
  );
}

function sentenceOn({ text, troubled }: Choice): string {
  if (text === "" && !troubled) return "those in trouble first. Search for others.";
  return "what was found, and what it is linked with.";
}
