import autocannon from "autocannon";
import type { LoadOrder, LoadResult } from "./load.js";
import { requestsOf, wireOf } from "./requests.js";

const order: LoadOrder = JSON.parse(process.argv[2] ?? "");
process.send?.(await generate(order));
process.disconnect();

/**
 * Each connection goes round its own share of the requests, so that all of them are seen. They are sent as their bytes
 * are, which autocannon would otherwise make of a name for each header.
 */
async function generate({ url, service, seconds, connections, rate, bodies }: LoadOrder): Promise<LoadResult> {
  const wires = requestsOf(bodies, service).map((request) => ({ requestBuffer: wireOf(request, url) }));
  let client = 0;
  const cpu = process.cpuUsage();
  const result = await autocannon({
    url,
    method: "POST",
    connections,
    duration: seconds,
    ...(rate === undefined ? {} : { overallRate: rate }),
    setupClient(connection) {
      const share = wires.filter((_, index) => index % connections === client % connections);
      const turn = wires.slice(client % wires.length, (client % wires.length) + 1);
      const sent = (share.length > 0 ? share : turn).map(() => ({}));
      connection.setRequests(sent);
      for (const [index, wire] of (share.length > 0 ? share : turn).entries()) Object.assign(sent[index] ?? {}, wire);
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
