import assert from "node:assert/strict";
import { test } from "node:test";
import { patient, receiver, room, runningSink } from "./receiver.js";

const one = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const batch = "00-11111111111111111111111111111111-2222222222222222-01";

const cases = [
  { what: "events without a context", events: [{}, {}], batch: undefined, sent: [undefined, undefined] },
  {
    what: "events of one trace",
    events: [one, one].map((traceparent) => ({ traceparent, tracestate: "a=1" })),
    batch,
    sent: [one, "a=1"],
  },
  {
    what: "events of several traces",
    events: [{ traceparent: one }, { traceparent: other }],
    batch,
    sent: [batch, undefined],
  },
  { what: "events of which one is not sampled", events: [{ traceparent: one }, {}], batch, sent: [batch, undefined] },
  {
    what: "events of several traces in a batch without one",
    events: [{ traceparent: one }, {}],
    batch: undefined,
    sent: [undefined, undefined],
  },
  {
    what: "a tracestate that no header can hold",
    events: [{ traceparent: one, tracestate: "a=\u{1f600}\n" }],
    batch,
    sent: [one, undefined],
  },
  { what: "a traceparent that no header can hold", events: [{ traceparent: "\n" }], batch, sent: [batch, undefined] },
] as const;

for (const { what, events, batch: traceparent, sent } of cases)
  test(`a request with ${what} has traceparent ${sent[0]} and tracestate ${sent[1]}`, async (context) => {
    const server = await receiver(context);
    const sink = await runningSink(context, { url: server.url, send: "batch" });
    const all = events.map((headers, n) => room("r", n, headers));

    await sink.persist({ events: all, ...(traceparent === undefined ? {} : { traceparent }) }, patient);

    const [request] = server.requests;
    assert.deepEqual([request?.headers["traceparent"], request?.headers["tracestate"]], sent);
  });

test("a header of the configuration replaces the context", async (context) => {
  const server = await receiver(context);
  const sink = await runningSink(context, { url: server.url, headers: { TraceParent: "own" } });

  await sink.persist({ events: [room("r", 1, { traceparent: one })] }, patient);

  assert.equal(server.requests[0]?.headers["traceparent"], "own");
});
