import { createClient } from "@redis/client";
import { batchSink, type Context, letterHeader, type Sink } from "deneb/sdk";
import type { RedisOnceConfig } from "./config.js";

/** Runs as a whole or not at all: compares the position, adds the events and moves the position. */
const STORE = `
  local stream, positions, letters = KEYS[1], KEYS[2], KEYS[3]
  local channel, before, text = ARGV[1], ARGV[2], ARGV[3]
  if channel ~= '' and (redis.call('HGET', positions, channel) or '') ~= before then return 0 end
  for i = 4, #ARGV, 2 do
    local letter, event = ARGV[i], ARGV[i + 1]
    if letter == '' or redis.call('SISMEMBER', letters, letter) == 0 then
      redis.call('XADD', stream, '*', 'event', event)
      if letter ~= '' then redis.call('SADD', letters, letter) end
    end
  end
  if channel ~= '' then redis.call('HSET', positions, channel, text) end
  return 1`;

/** Adds each event once to a stream; the position of the channel is kept beside it. */
export function redisOnce({ url, stream }: RedisOnceConfig, { name, run }: Context): Sink {
  const positions = `${stream}:positions:${name}`;
  const keys = [stream, positions, `${stream}:letters`];
  return batchSink({
    async open() {
      const socket = { reconnectStrategy: false, connectTimeout: 5000 } as const;
      const client = createClient({ url, name: stream, socket, disableOfflineQueue: true });
      // A client that breaks fails the call that is running, and the next one.
      client.on("error", () => undefined);
      return await client.connect();
    },
    async write(client, events, _signal, { position }) {
      const { channel = "", before = "", text = "" } = position ?? {};
      const stored = events.flatMap((event) => [event.headers[letterHeader] ?? "", JSON.stringify(event)]);
      const answer = await client.eval(STORE, { keys, arguments: [channel, before, text, ...stored] });
      if (answer === 0 && position !== undefined) throw position.conflict();
      return { requestBytes: Buffer.byteLength(stored.join("")), responseBytes: 0 };
    },
    close: async (client) => client.destroy(),
    abandon: (client) => client.destroy(),
    positions: { owner: run, stored: async (client) => Object.values(await client.hGetAll(positions)) },
    tuning: { largestBatch: 1000, batchLinger: 5 },
  });
}
