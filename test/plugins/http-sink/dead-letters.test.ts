import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import type { RetryPolicy } from "../../../core/pipeline/delivery/retry-policy.js";
import type { Event } from "../../../core/sdk/index.js";
import type { HttpSinkConfig } from "../../../plugins/http-sink/config.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { type Received, receiver, room, runningSink } from "./receiver.js";

interface Setting {
  readonly statusFor: (received: Received) => number;
  readonly retry: RetryPolicy;
  readonly config?: Partial<HttpSinkConfig>;
}

/** Delivers events whose bodies are their numbers; the bodies that the server received. */
async function delivered(context: TestContext, events: readonly Event[], { statusFor, retry, config }: Setting) {
  const server = await receiver(context, (response, _, received) => {
    response.writeHead(statusFor(received)).end();
  });
  const sink = await runningSink(context, { url: server.url, body: "{{attribute.n}}", ...config });
  const { log } = recordingLog();
  const { chain, counters } = chainTo({ sink, retry, deadLetters: new DeadLetters(await tempFolder(context)), log });
  await deliver(chain, events);
  return { bodies: server.requests.map(({ body }) => body), counters };
}

test("one event that is refused becomes a dead letter, the others are sent once and in order", async (context) => {
  const retry = { batchTtl: 0, batchRetryIntervals: [1] };
  const statusFor = ({ body }: Received) => (body === "3" ? 400 : 200);

  const { bodies, counters } = await delivered(
    context,
    [1, 2, 3, 4, 5].map((n) => room("a", n)),
    { statusFor, retry },
  );

  const good = bodies.filter((body) => body !== "3");
  assert.deepEqual(good, ["1", "2", "4", "5"]);
  assert.equal(counters.deadLettered, 1);
});

/** One event of each of these many entities. */
const entities = (count: number) => Array.from({ length: count }, (_, at) => room(String(at + 1), at + 1));
const untilStored = { batchTtl: 10, batchRetryIntervals: [1], untilStored: true };
const judged = [
  { status: 503, times: 40, deadLettered: 0 },
  { status: 429, times: 40, deadLettered: 0 },
  { status: 500, times: Number.POSITIVE_INFINITY, deadLettered: 1 },
] as const;
for (const { status, times, deadLettered } of judged)
  test(`behind a durable channel an event that gets ${status} ${times} times while others pass becomes ${deadLettered} dead letters`, async (context) => {
    let left: number = times;
    const statusFor = ({ body }: Received) => {
      if (body !== "3" || left === 0) return 200;
      left -= 1;
      return status;
    };

    const { bodies, counters } = await delivered(context, entities(6), { statusFor, retry: untilStored });

    assert.equal(new Set(bodies).size, 6);
    assert.equal(counters.deadLettered, deadLettered);
    assert.equal(left === 0, deadLettered === 0);
  });

test("what was sent before the retry limit was reached is not among the dead letters", async (context) => {
  const retry = { batchTtl: 1, batchRetryIntervals: [1] };
  const statusFor = ({ body }: Received) => (body === "3" ? 503 : 200);

  const { bodies, counters } = await delivered(context, entities(4), {
    statusFor,
    retry,
    config: { max_connections: 1 },
  });

  assert.deepEqual(bodies, ["1", "2", "3", "3"]);
  assert.equal(counters.deadLettered, 2);
});
