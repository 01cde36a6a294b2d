import { live } from "../../live/page-state.js";
import { Choice, Field } from "../../parts/field.js";
import { reasons } from "./letter-calls.js";
import { type LetterFilter, noFilter } from "./letter-search.js";

interface FilterParts {
  readonly filter: LetterFilter;
  readonly onChange: (filter: LetterFilter) => void;
  readonly onSearch: () => void;
}

/** What to look for; searched on request, because a store may have a million letters. */
export function LetterFilterForm({ filter, onChange, onSearch }: FilterParts) {
  const { snapshot, topology } = live.value;
  const sinks = new Set([
    ...(topology?.components ?? []).filter(({ kind }) => kind === "sink").map(({ name }) => name),
    ...Object.values(snapshot?.dead_letters ?? {}).map(({ sink }) => sink),
  ]);
  const text = (name: keyof LetterFilter, label: string) => (
    <Field label={label} value={filter[name]} onValue={(value) => onChange({ ...filter, [name]: value })} />
  );
  const time = (name: "since" | "until", label: string) => (
    <Field
      label={label}
      type="datetime-local"
      value={filter[name]}
      onValue={(value) => onChange({ ...filter, [name]: value })}
    />
  );
  return (
    <search>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch();
        }}
      >
        {text("text", "Message contains")}
        <Choice
          label="Sink"
          value={filter.sink}
          onValue={(sink) => onChange({ ...filter, sink })}
          options={[anything, ...sinks]}
        />
        <Choice
          label="Reason"
          value={filter.reason}
          onValue={(reason) => onChange({ ...filter, reason })}
          options={[anything, ...reasons]}
        />
        {text("service", "Service")}
        {text("entity", "Entity id")}
        <details class="wide-field">
          <summary>More to search by</summary>
          <div class="form">
            {text("type", "Entity type")}
            {text("code", "Error code")}
            {time("since", "Kept since")}
            {time("until", "Kept until")}
          </div>
        </details>
        <div class="actions">
          <button type="submit" class="primary">
            Search
          </button>
          <button
            type="button"
            onClick={(event) => {
              // A time that is filled in by half has no value that could change, and would stay.
              event.currentTarget.form?.reset();
              onChange(noFilter);
            }}
          >
            Empty the fields
          </button>
        </div>
      </form>
    </search>
  );
}

const anything = { value: "", text: "any" } as const;
