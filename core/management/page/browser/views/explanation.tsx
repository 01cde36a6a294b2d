import { settingText } from "../parts/format.js";
import { Wide } from "../parts/small.js";

/** What a sink would do with an event. */
export interface Explanation {
  readonly writes: readonly {
    readonly destination: Readonly<Record<string, string>>;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | null | undefined)[])[];
  }[];
  readonly statements: readonly {
    readonly text: string;
    readonly parameters: readonly (string | null | undefined)[];
  }[];
  readonly notes: readonly string[];
}

/** The rows that a sink would write, and how. */
export function ExplanationParts({ explanation }: { readonly explanation: Explanation }) {
  const { writes, statements, notes } = explanation;
  return (
    <>
      {writes.map(({ destination, columns, rows }, index) => {
        const place = Object.values(destination).join(".");
        return (
          <div key={index}>
            <p>
              Into <code>{place}</code>
            </p>
            <Wide label={`Rows for ${place}`}>
              <table>
                <thead>
                  <tr>
                    {columns.map((column) => (
                      <th key={column} scope="col">
                        <code>{column}</code>
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row, number) => (
                    <tr key={number}>
                      {columns.map((column, position) => (
                        <td key={column}>{cell(row[position])}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          </div>
        );
      })}
      {notes.length === 0 ? null : (
        <ul>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {statements.length === 0 ? null : (
        <details>
          <summary>Statements ({statements.length})</summary>
          {statements.map(({ text, parameters }, index) => (
            <Code key={index} text={parameters.length === 0 ? text : `${text}\n-- ${JSON.stringify(parameters)}`} />
          ))}
        </details>
      )}
    </>
  );
}

function cell(value: string | null | undefined) {
  return value === null || value === undefined ? <span class="muted">NULL</span> : value;
}

/** Text of a program or of a notification, with its lines; it is scrolled by keyboard, too. */
export function Code({ text, label = "Text" }: { readonly text: string; readonly label?: string }) {
  return (
    <section class="code" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}

/** JSON with its lines indented; a text that is no JSON unchanged. */
export function indented(value: unknown): string {
  try {
    return JSON.stringify(typeof value === "string" ? JSON.parse(value) : value, undefined, 2);
  } catch {
    return settingText(value);
  }
}
