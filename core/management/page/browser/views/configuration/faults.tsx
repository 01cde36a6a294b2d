/** Something wrong in the properties file. */
export interface Fault {
  readonly severity: string;
  readonly key?: string;
  readonly value?: string;
  readonly reason: string;
  readonly nearest?: string;
  readonly line?: number;
  /** All of it in a sentence. */
  readonly text: string;
}

const marks: ReadonlyMap<string, string> = new Map([
  ["error", "down"],
  ["warning", "degraded"],
]);

export function FaultList({ faults }: { readonly faults: readonly Fault[] }) {
  if (faults.length === 0) return <p>None.</p>;
  return (
    <ul class="faults">
      {faults.map(({ severity, text, key, line }) => (
        <li key={`${severity} ${line} ${key} ${text}`}>
          <span class={`mark ${marks.get(severity) ?? "unknown"}`}>{severity}</span>{" "}
          <span class="fault-text">{text}</span>
        </li>
      ))}
    </ul>
  );
}
