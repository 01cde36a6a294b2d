import { useState } from "preact/hooks";
import { calls } from "../../live/page-state.js";
import { Field } from "../../parts/field.js";
import { Pages } from "../../parts/pages.js";
import { Failure, Table } from "../../parts/small.js";
import { useCall } from "../../parts/use-call.js";

interface Property {
  readonly key: string;
  readonly value: string;
  readonly masked?: boolean;
}

const pageSize = 100;

/** The lines of the properties file, secrets masked; read when a reader opens them. */
export function PropertyList() {
  const { result, failure, run } = useCall<undefined, { properties: readonly Property[] }>(
    async (_given, signal) => await calls.ask("GET", "/v1/configuration/properties", { signal }),
  );
  const [text, setText] = useState("");
  const [start, setStart] = useState(0);
  const found = (result?.properties ?? []).filter(({ key }) => key.toLowerCase().includes(text.toLowerCase()));
  const first = start < found.length ? start : 0;
  return (
    <details onToggle={(event) => event.currentTarget.open && void run(undefined)}>
      <summary>Properties of the file</summary>
      <Failure failure={failure} />
      {result === undefined ? null : (
        <>
          <div class="filter">
            <Field label="Key contains" type="search" value={text} onValue={setText} />
          </div>
          <Table label="Properties" columns={["Property", "Value"]}>
            {found.slice(first, first + pageSize).map(({ key, value }) => (
              <tr key={key}>
                <td>
                  <code>{key}</code>
                </td>
                <td>
                  <code>{value}</code>
                </td>
              </tr>
            ))}
          </Table>
          <Pages of={found.length} size={pageSize} start={first} onStart={setStart} />
        </>
      )}
    </details>
  );
}
