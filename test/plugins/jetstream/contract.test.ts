import { test } from "node:test";
import { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { partitionedLogCases } from "../../log/partitioned-log-cases.js";
import { removeStream } from "./administration.js";
import { configOf, sharedNats } from "./nats.js";

for (const { title, run } of partitionedLogCases)
  test(`in JetStream ${title}`, async (context) => {
    const server = await sharedNats(context);
    if (server === undefined) return;
    await run({
      make: async (stream, partitions) =>
        new JetStreamLog(configOf({ servers: [server], stream, partitions }), 'channel "log"'),
      remove: (stream) => removeStream(server, stream),
    });
  });
