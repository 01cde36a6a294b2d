import { test } from "node:test";
import { logConformance } from "../../../core/testing/index.js";
import { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { removeStream } from "./administration.js";
import { configOf, sharedNats } from "./nats.js";

const logOf = (server: string, stream: string, partitions: number) =>
  new JetStreamLog(configOf({ servers: [server], stream, partitions }), 'channel "log"');

let server = "";
const cases = logConformance({
  make: (stream, partitions) => logOf(server, stream, partitions),
  remove: (stream) => removeStream(server, stream),
  unreachable: () => logOf("nats://127.0.0.1:1", "away", 1),
});

for (const { name, run } of cases)
  test(`in JetStream ${name}`, async (context) => {
    const url = await sharedNats(context);
    if (url === undefined) return;
    server = url;
    await run();
  });
