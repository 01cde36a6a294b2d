import { setTimeout as pause } from "node:timers/promises";
import type { BenchCase } from "./case.js";
import { postEach } from "./post.js";
import { requestsOf } from "./requests.js";
import { percentile } from "./statistics.js";
import type { SystemUnderTest } from "./systems.js";

/** From POST to visible row, in milliseconds. */
export interface VisibleLatency {
  readonly p50: number;
  readonly p99: number;
}

const PAUSE_MILLISECONDS = 100;
const PATIENCE_MILLISECONDS = 60_000;
/** Notifications that are sent and do not count. */
export const UNCOUNTED = 1;

/**
 * Posts one notification every 100 ms after the one before is a row, and looks for it without a pause; undefined where
 * the table of the device has no column `name` to look into.
 */
export async function visibleLatency(
  { bodies, sink }: BenchCase,
  { store, notifyUrl, service }: SystemUnderTest,
  looks: number,
): Promise<VisibleLatency | undefined> {
  if (
    looks === 0 ||
    store === undefined ||
    "recorded" in bodies ||
    bodies.format !== "ld" ||
    sink["attr_persistence"] === "row"
  )
    return undefined;
  if (sink["data_model"] !== undefined) return undefined;
  const [request] = requestsOf({ format: "ld", entities: 1 }, service);
  if (request === undefined) return undefined;
  const latencies: number[] = [];
  // Before the first one the harness opens its connections, and neither it nor the database has run this way.
  for (let look = -UNCOUNTED; look < looks; look += 1) {
    const name = `look ${look}`;
    const { data, ...envelope } = JSON.parse(request.body);
    const marked = JSON.stringify({ ...envelope, data: [{ ...data[0], name: { type: "Property", value: name } }] });
    const posted = performance.now();
    await postEach({ url: notifyUrl, requests: [{ ...request, body: marked }], connections: 1 });
    while (!(await store.holds(0, name))) {
      if (performance.now() - posted > PATIENCE_MILLISECONDS) throw new Error(`"${name}" was accepted and is no row`);
      await pause(0);
    }
    if (look >= 0) latencies.push(performance.now() - posted);
    await pause(PAUSE_MILLISECONDS);
  }
  return { p50: percentile(latencies, 50), p99: percentile(latencies, 99) };
}
