import type { ComponentNode } from "../configuration/topology.js";
import type { ChannelRoom } from "../pipeline/delivery/worth-waiting-for.js";

type Configured = Pick<ComponentNode, "config">;

/** The most events of a channel, those in memory and on disk together; undefined when its configuration names no number. */
export function capacityOf({ config }: Configured): number | undefined {
  const { capacity, memoryCapacity, overflowCapacity } = config;
  if (typeof capacity === "number") return capacity;
  return typeof memoryCapacity === "number" && typeof overflowCapacity === "number"
    ? memoryCapacity + overflowCapacity
    : undefined;
}

/** Likewise of bytes. */
export function byteCapacityOf({ config: { byteCapacity } }: Configured): number | undefined {
  return typeof byteCapacity === "number" && byteCapacity > 0 ? byteCapacity : undefined;
}

/** The most that one service may hold in a channel: all that the channel holds, or the part that its configuration gives to each. */
export function roomOf(node: Configured): ChannelRoom {
  const { service_percentage: percentage = 100 } = node.config;
  const part = typeof percentage === "number" ? percentage / 100 : 1;
  const [events, bytes] = [capacityOf(node), byteCapacityOf(node)].map((most) =>
    most === undefined ? undefined : Math.floor(most * part),
  );
  return { events, bytes };
}
