import { test } from "node:test";
import { channelConformance } from "../../../core/testing/index.js";
import { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { anotherLogChannel, openLogChannel, reopenLogChannel } from "../../log/opened-channel.js";
import { removeStream } from "./administration.js";
import { configOf, nameOfStream, sharedNats } from "./nats.js";

test("a channel over a log in JetStream keeps the contract of channels", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const cases = channelConformance(
    async ({ waitSeconds, ...limits }) => {
      const stream = nameOfStream();
      context.after(() => removeStream(server, stream));
      const engine = () =>
        new JetStreamLog(configOf({ servers: [server], stream, partitions: 1 }), `channel "${stream}"`);
      return await openLogChannel({ folder: stream, engine, config: { ...limits, "keep-alive": waitSeconds } });
    },
    { reopen: reopenLogChannel, restart: reopenLogChannel, second: anotherLogChannel, twoAgents: "shared" },
  );
  for (const { name, run } of cases) await context.test(name, run);
});
