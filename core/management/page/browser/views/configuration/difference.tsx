import { settingText } from "../../parts/format.js";
import { Table } from "../../parts/small.js";

/** How the file differs from what runs; components by their ids. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly {
    readonly id: string;
    readonly changes: readonly {
      readonly setting: string;
      readonly old?: unknown;
      readonly new?: unknown;
      readonly masked?: boolean;
    }[];
  }[];
  readonly reload: {
    readonly replaced: readonly string[];
    readonly started: readonly string[];
    readonly stopped: readonly string[];
    readonly kept: readonly string[];
  };
}

export function DifferencePart({
  difference: { added, removed, changed, reload },
}: {
  readonly difference: Difference;
}) {
  return (
    <>
      <Names title="New" ids={added} />
      <Names title="Gone" ids={removed} />
      {changed.length === 0 ? null : (
        <Table label="Changed settings" columns={["Component", "Setting", "Now", "After a reload"]}>
          {changed.flatMap(({ id, changes }) =>
            changes.map(({ setting, old, new: next, masked }) => (
              <tr key={`${id} ${setting}`}>
                <td>{titleOf(id)}</td>
                <td>
                  <code>{setting}</code>
                </td>
                <td>
                  <del>{settingText(old)}</del>
                </td>
                <td>
                  <ins>{settingText(next)}</ins>{" "}
                  {masked === true ? <span class="muted">a secret that differs</span> : null}
                </td>
              </tr>
            )),
          )}
        </Table>
      )}
      <Names title="Replaced" ids={reload.replaced} />
      <Names title="Started" ids={reload.started} />
      <Names title="Stopped" ids={reload.stopped} />
      <Names title="Kept" ids={reload.kept} />
    </>
  );
}

function Names({ title, ids }: { readonly title: string; readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <p>
      <b>{title}:</b> {ids.map(titleOf).join(", ")}
    </p>
  );
}

function titleOf(id: string): string {
  return id.replace(":", " ");
}
