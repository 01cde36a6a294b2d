import type { Partition, SharedLog } from "../../live/contract.js";
import { count, duration, many, secondsBetween } from "../../parts/format.js";
import { type Fact, Facts, Table } from "../../parts/small.js";
import { workerOf } from "./partition-worker.js";

interface PartitionsParts {
  readonly channel: string;
  readonly log: SharedLog;
  readonly now: string;
}

/** The log of a channel that agents share: its books, and who works on which partition. */
export function Partitions({ channel, log, now }: PartitionsParts) {
  const { partitions, num_partitions: all, num_unattended: unattended } = log;
  const title = `Partitions of ${channel}`;
  return (
    <>
      <Facts facts={factsOf(log)} />
      {unattended === 0 ? null : <p class="bad">{many(unattended, "partition")} without an agent</p>}
      <details>
        <summary>
          {title}
          {partitions.length < all ? `, ${partitions.length} of ${all}` : ""}
        </summary>
        <Table label={title} columns={["Partition", "Agent"]} numbers={["Waiting", "Oldest waits"]}>
          {partitions.map((one) => (
            <tr key={one.partition}>
              <th scope="row">{one.partition}</th>
              <td class={one.agent === undefined ? "bad" : ""}>{workerOf(one)}</td>
              <td class="right">{`${one.exact ? "" : "about "}${count(one.waiting)}`}</td>
              <td class="right">{ageOf(one, now)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

function factsOf({ engine, group, agents, appended, dead_lettered: letters, unaccounted }: SharedLog): readonly Fact[] {
  const facts: readonly Fact[] = [
    { name: "Log", value: `${engine}, group ${group}` },
    { name: "Agents", value: count(agents.length) },
    { name: "Appended by all", value: count(appended) },
    { name: "Dead letters of all", value: count(letters) },
    { name: "Unaccounted", value: count(unaccounted) },
  ];
  return facts;
}

function ageOf({ oldest }: Partition, now: string): string {
  const seconds = secondsBetween(oldest, now);
  return seconds === undefined ? "" : duration(seconds);
}
