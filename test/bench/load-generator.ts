import autocannon from "autocannon";
import type { LoadOrder, LoadResult } from "./load.js";
import { notificationBodies } from "./notifications.js";

const order: LoadOrder = JSON.parse(process.argv[2] ?? "");
process.send?.(await generate(order));
process.disconnect();

/** Each connection goes round its own share of the entities, so that all of them are seen. */
async function generate({ url, seconds, connections, rate, entities, format }: LoadOrder): Promise<LoadResult> {
  const requests = notificationBodies(entities, format).map((body) => ({ body }));
  const contentType = format === "ld" ? "application/ld+json" : "application/json";
  let client = 0;
  const result = await autocannon({
    url,
    method: "POST",
    headers: { "Content-Type": contentType, "Fiware-Service": "bench", "Fiware-ServicePath": "/" },
    connections,
    duration: seconds,
    ...(rate === undefined ? {} : { overallRate: rate }),
    setupClient(connection) {
      const share = requests.filter((_, index) => index % connections === client % connections);
      const [only] = requests;
      connection.setRequests(share.length > 0 || only === undefined ? share : [only]);
      client += 1;
    },
  });
  return {
    accepted: result["2xx"],
    refused: result.non2xx,
    failed: result.errors,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    p999: result.latency.p99_9,
  };
}
