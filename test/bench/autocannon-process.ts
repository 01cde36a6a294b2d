import autocannon from "autocannon";
import type { LoadOrder, LoadResult } from "./load.js";
import { headersOf, notificationBodies } from "./notifications.js";

const order: LoadOrder = JSON.parse(process.argv[2] ?? "");
process.send?.(await generate(order));
process.disconnect();

/** Each connection goes round its own share of the bodies, so that all of them are seen. */
async function generate({ url, service, seconds, connections, rate, bodies }: LoadOrder): Promise<LoadResult> {
  const requests = notificationBodies(bodies).map((body) => ({ body }));
  let client = 0;
  const cpu = process.cpuUsage();
  const result = await autocannon({
    url,
    method: "POST",
    headers: headersOf(bodies.format, service),
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
  const { user, system } = process.cpuUsage(cpu);
  return {
    accepted: result["2xx"],
    refused: result.non2xx,
    failed: result.errors,
    unanswered: connections + result.errors,
    startedAt: result.start.getTime(),
    seconds: result.duration,
    cores: (user + system) / 1e6 / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    p999: result.latency.p99_9,
  };
}
