import { getHeapStatistics } from "node:v8";
import { type ChannelLimits, ServiceShares, type SharingConfig } from "deneb/sdk/channel";
import { Backlog } from "./backlog.js";
import type { EventLog } from "./event-log.js";
import { LogSupply } from "./log-supply.js";
import { ServiceSupply } from "./service-supply.js";
import type { Supply } from "./supply.js";

/** Of the heap limit: what a sink makes of a batch may take ten times the bytes that it has on disk. */
const SHARE_OF_HEAP = 1 / 64;

/**
 * Where services are not told apart, nothing is counted or indexed. `mostBytes`: bytes of events, as they are on disk, that are handed
 * out at a time, about.
 */
export function supplyOf(
  limits: ChannelLimits & SharingConfig,
  log: EventLog,
  mostBytes = getHeapStatistics().heap_size_limit * SHARE_OF_HEAP,
): Supply {
  const { service_percentage: percentage, fair_taking: fair } = limits;
  if (percentage === 100 && !fair) return new LogSupply(log, mostBytes);
  const shares = new ServiceShares({ ...limits, percentage });
  return new ServiceSupply(log, shares, new Backlog(shares, fair, mostBytes), fair);
}
