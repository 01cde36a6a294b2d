import type { ChannelLedger, Snapshot } from "../live/contract.js";
import { calls, live } from "../live/page-state.js";
import { useWatched } from "../live/watched.js";
import { count, many } from "../parts/format.js";
import { Failure, Notice, Table, View } from "../parts/small.js";
import { useCall } from "../parts/use-call.js";

const columns: readonly { readonly key: keyof ChannelLedger; readonly title: string }[] = [
  { key: "received", title: "Received" },
  { key: "stored", title: "Stored" },
  { key: "dead_lettered", title: "Dead letters" },
  { key: "filtered", title: "Filtered" },
  { key: "uncounted", title: "Uncounted" },
  { key: "lost", title: "Lost" },
  { key: "waiting", title: "Waiting" },
  { key: "unaccounted", title: "Unaccounted" },
];

/** The books of each channel: where every event is that it received. */
export function LedgerView() {
  const { snapshot } = useWatched(live);
  return (
    <View title="Ledger">
      <p>
        Received = stored + dead letters + filtered + uncounted + lost + waiting + unaccounted. Anything but 0 that
        stays unaccounted was lost or stored twice.
      </p>
      {snapshot === undefined ? <p>Waiting for the agent …</p> : <Books snapshot={snapshot} />}
      <Comparison />
    </View>
  );
}

function Books({ snapshot }: { readonly snapshot: Snapshot }) {
  const books = Object.entries(snapshot.components).flatMap(([id, { ledger }]) =>
    ledger === undefined ? [] : [{ channel: id.slice(id.indexOf(":") + 1), ledger }],
  );
  if (books.length === 0) return <p class="muted">No channel has books.</p>;
  return (
    <Table label="Books of the channels" columns={["Channel"]} numbers={columns.map(({ title }) => title)}>
      {books.map(({ channel, ledger }) => (
        <tr key={channel}>
          <th scope="row">{channel}</th>
          {columns.map(({ key }) => (
            <td key={key} class={isBad(key, ledger[key]) ? "right bad" : "right"}>
              {count(ledger[key])}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function isBad(key: keyof ChannelLedger, number: number | undefined): boolean {
  return (key === "lost" || key === "unaccounted") && (number ?? 0) !== 0;
}

interface Verification {
  readonly differences: readonly string[];
  readonly unknown: readonly string[];
  readonly notes: readonly string[];
}

/** Compares the ledger with what the stores have; it asks them, so it is done on request. */
function Comparison() {
  const { running, result, failure, run } = useCall<undefined, { verification: Verification }>(
    async (_given, signal) => await calls.ask("GET", "/v1/admin/verify", { signal }),
  );
  return (
    <section class="panel" aria-labelledby="verify-title">
      <h2 id="verify-title">Compare with the stores</h2>
      <p>Asks each store how many events it has of each channel. This takes up to 30 seconds for a store.</p>
      <button type="button" disabled={running} onClick={() => void run(undefined)}>
        {running ? "Comparing …" : "Compare"}
      </button>
      <Failure failure={failure} />
      {result === undefined ? null : <Compared verification={result.verification} />}
    </section>
  );
}

function Compared({ verification: { differences, unknown, notes } }: { readonly verification: Verification }) {
  return (
    <Notice kind={differences.length > 0 ? "bad" : unknown.length > 0 ? "warning" : "good"}>
      <p>
        {differences.length === 0 ? "Nothing differs." : `${many(differences.length, "difference")}:`}
        {unknown.length === 0 ? "" : ` ${many(unknown.length, "store")} could not be asked:`}
      </p>
      <ul>
        {[...differences, ...unknown, ...notes].map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Notice>
  );
}
