import assert from "node:assert/strict";
import { test } from "node:test";
import { type Reception, type Refuse, type Refused, receiveUntilTaken } from "../../core/sdk/index.js";

const full = { status: 503, cause: "channel-full", retryable: true } as const;

test("a request is handed over until the channels take it, each time with its own reception time", async () => {
  const { taken, requests, held } = await handedOver([full, full, undefined]);

  assert.equal(taken, true);
  assert.deepEqual(
    requests.map(({ receivedAt }) => receivedAt.getTime()),
    [1, 2, 3],
  );
  assert.deepEqual(held, ["channel-full 1", "channel-full 2"]);
});

test("what is refused for good, and what a service sent too much, is not handed over again", async () => {
  const malformed = await handedOver([{ status: 400, cause: "content", retryable: false }]);
  const tooMany = await handedOver([{ status: 429, cause: "quota", retryable: true }]);

  assert.deepEqual([malformed.taken, malformed.held, malformed.accounted], [true, [], ["content"]]);
  assert.deepEqual([tooMany.taken, tooMany.held, tooMany.accounted], [true, [], ["quota"]]);
});

test("an error that may be of the request is refused after ten attempts", async () => {
  const unknown = { status: 500, cause: "unexpected", retryable: undefined };

  const { taken, requests, accounted } = await handedOver(Array.from({ length: 20 }, () => unknown));

  assert.deepEqual([taken, requests.length, accounted], [true, 10, ["unexpected"]]);
});

test("errors that may be of the request are counted in a row: those of channels without room do not count", async () => {
  const unknown = { status: 500, cause: "unexpected", retryable: undefined };
  const nine = Array.from({ length: 9 }, () => unknown);

  const { taken, requests, accounted } = await handedOver([...nine, full, full, ...nine, undefined]);

  assert.deepEqual([taken, requests.length, accounted], [true, 21, []]);
});

test("nothing is handed over after the signal, and nothing is said to be taken", async () => {
  const stopping = new AbortController();

  const { taken, requests } = await handedOver([full, full, undefined], stopping, () => stopping.abort());

  assert.deepEqual([taken, requests.length], [false, 1]);
});

type Answer = Pick<Refused, "status" | "cause" | "retryable"> | undefined;

/** Hands a request over to a kernel that gives these answers, one after the other; undefined accepts. */
async function handedOver(answers: readonly Answer[], stopping = new AbortController(), onHeld = () => {}) {
  const requests: { readonly receivedAt: Date }[] = [];
  const held: string[] = [];
  const accounted: string[] = [];
  const receive = async (request: { readonly receivedAt: Date }, refuse?: Refuse): Promise<Reception> => {
    const answer = answers[requests.length];
    requests.push(request);
    if (answer === undefined) return { accepted: true };
    const refused = { accepted: false, reason: "no", headers: {}, retryAfter: undefined, ...answer } as const;
    if (refuse?.(refused) !== undefined) accounted.push(refused.cause);
    return refused;
  };
  const request = () => ({
    method: "POST",
    path: "/notify",
    headers: {},
    body: new Uint8Array(),
    receivedAt: new Date(requests.length + 1),
  });
  const noted = ({ cause }: Refused, attempt: number) => {
    held.push(`${cause} ${attempt}`);
    onHeld();
  };
  const taken = await receiveUntilTaken(
    { receive, request, pause: async () => undefined, held: noted },
    stopping.signal,
  );
  return { taken, requests, held, accounted };
}
