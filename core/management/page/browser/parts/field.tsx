import { useId } from "preact/hooks";

interface FieldParts {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "search" | "password" | "datetime-local";
  readonly placeholder?: string;
  readonly required?: boolean;
}

/** An input with its label. Nothing that is typed here is kept or corrected by the browser. */
export function Field({ label, value, onValue, type = "text", ...others }: FieldParts) {
  const id = useId();
  const attributes = {
    ...others,
    id,
    value,
    onInput: (event: Event & { readonly currentTarget: HTMLInputElement }) => onValue(event.currentTarget.value),
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: false,
  } as const;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === "text" ? <input type="text" {...attributes} /> : null}
      {type === "search" ? <input type="search" {...attributes} /> : null}
      {type === "password" ? <input type="password" {...attributes} /> : null}
      {type === "datetime-local" ? <input type="datetime-local" {...attributes} /> : null}
    </div>
  );
}

interface ChoiceParts {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly options: readonly (string | { readonly value: string; readonly text: string })[];
}

/** A list to choose from, with its label. */
export function Choice({ label, value, onValue, options }: ChoiceParts) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map((option) => {
          const one = typeof option === "string" ? { value: option, text: option } : option;
          return (
            <option key={one.value} value={one.value}>
              {one.text}
            </option>
          );
        })}
      </select>
    </div>
  );
}

interface TextParts {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly rows: number;
}

export function TextField({ label, value, onValue, rows }: TextParts) {
  const id = useId();
  return (
    <div class="field wide-field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        spellcheck={false}
        autocapitalize="none"
      />
    </div>
  );
}
