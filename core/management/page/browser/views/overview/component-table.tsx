import { useState } from "preact/hooks";
import type { Component, ComponentState, Snapshot } from "../../live/contract.js";
import { count, many, rate } from "../../parts/format.js";
import { Pages } from "../../parts/pages.js";
import { HealthMark, Table } from "../../parts/small.js";

interface TableParts {
  readonly components: readonly Component[];
  readonly snapshot: Snapshot;
  readonly onSelect: (id: string) => void;
}

const pageSize = 25;

/** All components that were found, a page at a time. */
export function ComponentTable({ components, snapshot, onSelect }: TableParts) {
  const [start, setStart] = useState(0);
  const first = start < components.length ? start : 0;
  return (
    <section aria-labelledby="components-title">
      <h2 id="components-title">{many(components.length, "component")}</h2>
      <Table label="Components" columns={["Component", "Type", "Health"]} numbers={["Waiting", "In/s", "Out/s"]}>
        {components.slice(first, first + pageSize).map(({ id, kind, name, type }) => (
          <Row
            key={id}
            title={`${kind} ${name}`}
            type={type}
            state={snapshot.components[id]}
            onOpen={() => onSelect(id)}
          />
        ))}
      </Table>
      <Pages of={components.length} size={pageSize} start={first} onStart={setStart} />
    </section>
  );
}

interface RowParts {
  readonly title: string;
  readonly type: string;
  readonly state: ComponentState | undefined;
  readonly onOpen: () => void;
}

function Row({ title, type, state, onOpen }: RowParts) {
  return (
    <tr>
      <td>
        <button type="button" class="link" onClick={onOpen}>
          {title}
        </button>
      </td>
      <td>{type}</td>
      <td>
        <HealthMark health={state?.health} />
      </td>
      <td class="right">{count(state?.events)}</td>
      <td class="right">{rate(state?.accepted_per_second ?? state?.in_per_second ?? state?.processed_per_second)}</td>
      <td class="right">{rate(state?.out_per_second ?? state?.stored_per_second)}</td>
    </tr>
  );
}
