import { useEffect, useRef } from "preact/hooks";
import type { Component, ComponentState, Part, Snapshot, Topology } from "../../live/contract.js";
import { live } from "../../live/page-state.js";
import { Chart, type Series } from "../../parts/chart.js";
import { bytes, count, duration, moment, secondsBetween, settingText } from "../../parts/format.js";
import { type Fact, Facts, HealthMark, Table } from "../../parts/small.js";
import { Findings } from "./findings.js";
import { Partitions } from "./partitions.js";

interface DetailsParts {
  readonly component: Component;
  readonly topology: Topology;
  readonly snapshot: Snapshot;
  readonly onClose: () => void;
}

const series: Readonly<Record<Component["kind"], readonly Series[]>> = {
  source: [
    { key: "in", label: "Accepted/s" },
    { key: "refused", label: "Refused/s" },
  ],
  channel: [
    { key: "in", label: "In/s" },
    { key: "out", label: "Out/s" },
  ],
  sink: [
    { key: "in", label: "Taken/s" },
    { key: "out", label: "Stored/s" },
  ],
};

/** One component: what is wrong, its numbers, its recent past, and how it is configured. */
export function ComponentDetails({ component, topology, snapshot, onClose }: DetailsParts) {
  const { id, kind, name, type, plugin, settings, nested } = component;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [id]);
  const state = snapshot.components[id];
  const group = topology.groups.find(({ sinks }) => sinks.includes(id));
  const origin = plugin.origin === "deneb" ? "of Deneb" : `from ${plugin.origin}`;
  return (
    <section class="panel details" aria-labelledby="details-title">
      <header>
        <h2 id="details-title" ref={heading} tabIndex={-1}>
          {kind} {name} <HealthMark health={state?.health} />
        </h2>
        <button type="button" class="plain" onClick={onClose} aria-label="Close the details">
          ✕
        </button>
      </header>
      <p class="muted">
        {type}, {plugin.stability}, {origin}
        {group === undefined ? "" : `; in group ${group.name} (${group.processor.type})`}
      </p>
      <Findings findings={state?.findings ?? []} now={snapshot.time} />
      {live.history.of(id).length === 0 ? (
        <p class="muted">There is no chart: above 150 components there is only the one of all together.</p>
      ) : (
        <Chart title={`${kind} ${name}`} samples={live.history.of(id)} series={series[kind]} />
      )}
      {state === undefined ? null : <Facts facts={factsOf(state, snapshot.time)} />}
      {state?.log === undefined ? null : <Partitions channel={name} log={state.log} now={snapshot.time} />}
      <Settings parts={[{ title: `${kind} ${name}`, part: component }, ...nested.map(titled)]} />
      {settings.length === 0 && nested.length === 0 ? <p class="muted">It has no settings.</p> : null}
    </section>
  );
}

/** What is known of it, in the words of GET /v1/stats. */
function factsOf(state: ComponentState, now: string): readonly Fact[] {
  const age = secondsBetween(state.oldest, now);
  const facts: readonly (Fact | undefined)[] = [
    { name: "Status", value: state.status },
    { name: "Set up", value: moment(state.setup_time) },
    counted("Accepted", state.accepted),
    counted("Put", state.in),
    counted("Taken", state.out ?? state.processed),
    counted("Stored", state.stored),
    counted("Refused", state.refused),
    counted("Waiting", state.events),
    counted("Capacity", state.capacity),
    state.bytes === undefined ? undefined : { name: "Size", value: bytes(state.bytes) },
    age === undefined ? undefined : { name: "Oldest waits", value: duration(age) },
    state.seconds_until_full === undefined ? undefined : { name: "Full in", value: duration(state.seconds_until_full) },
  ];
  return facts.filter((fact) => fact !== undefined);
}

function counted(name: string, number: number | undefined): Fact | undefined {
  return number === undefined ? undefined : { name, value: count(number) };
}

interface Titled {
  readonly title: string;
  readonly part: Part;
}

function titled(part: Component["nested"][number]): Titled {
  const name = part.name === part.slot || part.name === part.kind ? "" : ` ${part.name}`;
  return { title: `${part.kind}${name}, ${part.type}`, part };
}

function Settings({ parts }: { readonly parts: readonly Titled[] }) {
  return (
    <>
      {parts.map(({ title, part }) =>
        part.settings.length === 0 ? null : (
          <details key={title}>
            <summary>Settings of {title}</summary>
            <Table label={`Settings of ${title}`} columns={["Property", "Value"]}>
              {part.settings.map(({ name, value, default: isDefault }) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td>
                    <code>{settingText(value)}</code> {isDefault === true ? <span class="muted">default</span> : null}
                  </td>
                </tr>
              ))}
            </Table>
          </details>
        ),
      )}
    </>
  );
}
