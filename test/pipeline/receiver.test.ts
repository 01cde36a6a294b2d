import assert from "node:assert/strict";
import { test } from "node:test";
import { Receiver } from "../../core/pipeline/receiver.js";
import { acceptedAtOnce, atOnce } from "../../core/sdk/at-once.js";
import {
  AgentError,
  type Emit,
  type Handler,
  type InboundRequest,
  keepText,
  keptTextOf,
  RejectedRequest,
  textCodecs,
} from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { tracedContext } from "../support/traced-context.js";

const receivedAt = new Date("2026-01-15T10:20:30.000Z");
const request: InboundRequest = {
  method: "POST",
  path: "/notify",
  headers: {},
  body: Buffer.from("twelve bytes"),
  receivedAt,
};
const oneEvent: Handler = {
  decode: () => ({ events: [{ headers: {}, body: 1 }], service: "openiot", servicePath: "/a" }),
};
const throwing = (error: unknown): Handler => ({
  decode: () => {
    throw error;
  },
});

function receiverWith(setting: { readonly handler?: Handler; readonly emit?: Emit } = {}) {
  const { log, lines } = recordingLog();
  let now = receivedAt;
  const parts = { name: "s", log, now: () => now, handler: oneEvent, ...setting };
  const pass = (milliseconds: number) => {
    now = new Date(now.getTime() + milliseconds);
  };
  const loud = () => lines.filter(({ level }) => level === "warn" || level === "error");
  return { ...tracedContext(parts), pass, loud };
}

test("a request is decoded, emitted and accounted under its service, with the time that it took", async () => {
  const { receiver, emitted, accounted, pass } = receiverWith({ emit: async () => pass(25) });

  const reception = await receiver.receive(request);

  assert.deepEqual(reception, { accepted: true });
  assert.equal(emitted.length, 1);
  const sizes = { requestBytes: 12, responseBytes: 0 };
  assert.deepEqual(accounted, [{ service: "openiot", servicePath: "/a", ...sizes, failed: false, milliseconds: 25 }]);
});

test("a request whose events are in their channels at once is accepted and accounted at once", async () => {
  const { receiver, accounted } = receiverWith({ emit: () => atOnce });

  const reception = receiver.receive(request);

  assert.equal(reception, acceptedAtOnce);
  assert.deepEqual(await reception, { accepted: true });
  assert.equal(accounted.length, 1);
});

/** Of a loop that would never end otherwise. */
const MOST = 10_000;
const full = new AgentError("CHANNEL_FULL", "the channel is full", { retryable: true });
const repeated = {
  "accepted at once": { emit: () => atOnce },
  "accepted a little later": { emit: () => Promise.resolve() },
  "refused by a channel": { emit: () => Promise.reject(full) },
  "refused by its handler": { handler: throwing(new RejectedRequest(400, "no")) },
};

for (const [outcome, setting] of Object.entries(repeated))
  test(`a source that hands over again and again what is ${outcome} lets others have their turn`, async () => {
    const { receiver } = receiverWith(setting);
    let hasTurn = false;
    setImmediate(() => {
      hasTurn = true;
    });

    for (let times = 0; !hasTurn && times < MOST; times += 1) await receiver.receive(request);

    assert.equal(hasTurn, true);
  });

const sender = { service: "t", servicePath: "/b" };
const rejected = new RejectedRequest(415, "no such type", { Accept: "a/b" }, sender, "content-type");
const refusals = [
  {
    name: "a refusal of the handler",
    handler: throwing(rejected),
    refused: { status: 415, cause: "content-type", retryable: false, reason: "no such type" },
    service: "t",
  },
  {
    name: "a refusal of a handler that names no kind",
    handler: throwing(Object.assign(new Error("no"), { code: "DELIVERY_REJECTED", status: 400 })),
    refused: { status: 400, cause: "rejected", retryable: false, reason: "no" },
    service: "",
  },
  {
    name: "a refusal of a handler whose status would tell the sender that it is accepted",
    handler: throwing(new RejectedRequest(200, "ignored")),
    refused: { status: 500, cause: "handler-failed", retryable: false, reason: "The request could not be processed" },
    service: "",
  },
  {
    name: "a handler that breaks",
    handler: throwing(new TypeError("x is not a function")),
    refused: { status: 500, cause: "handler-failed", retryable: false, reason: "The request could not be processed" },
    service: "",
  },
  {
    name: "an error of a channel that may pass, whatever its code",
    emit: () => Promise.reject(new AgentError("DISK_SLOW", "the disk is slow", { retryable: true, retryAfter: 900 })),
    refused: { status: 503, cause: "disk-slow", retryable: true, reason: "the disk is slow", retryAfter: 900 },
    service: "openiot",
  },
  {
    name: "a notification that never fits",
    emit: () => Promise.reject(new AgentError("NOTIFICATION_TOO_LARGE", "at most 10", { retryable: false })),
    refused: { status: 413, cause: "notification-too-large", retryable: false, reason: "at most 10" },
    service: "openiot",
  },
  {
    name: "any other error",
    emit: () => Promise.reject(new AgentError("MALFORMED_EVENT", "secret of the house", { retryable: false })),
    refused: { status: 500, cause: "malformed-event", reason: "The request could not be processed" },
    service: "openiot",
  },
] as const;

for (const { name, refused: expected, service, ...setting } of refusals)
  test(`${name} is refused with ${expected.status}, counted as ${expected.cause}, accounted and warned about`, async () => {
    const { receiver, accounted, refused, loud } = receiverWith(setting);

    const reception = await receiver.receive(request, () => 7);

    const unknown = { retryable: undefined, retryAfter: undefined };
    const headers = name === "a refusal of the handler" ? { Accept: "a/b" } : {};
    assert.deepEqual(reception, { accepted: false, headers, ...unknown, ...expected });
    assert.deepEqual(refused, [{ status: expected.status, cause: expected.cause }]);
    assert.deepEqual(
      accounted.map((one) => [one.service, one.failed, one.responseBytes]),
      [[service, true, 7]],
    );
    assert.deepEqual(
      loud().map(({ level, message }) => [level, message]),
      [[expected.status === 500 ? "error" : "warn", "requests refused"]],
    );
    assert.equal(receiver.refusals, 1);
  });

test("a refusal of a request that the source keeps is not accounted until it is final", async () => {
  const emit = () => Promise.reject(new AgentError("CHANNEL_FULL", "full", { retryable: true }));
  const { receiver, accounted, refused, loud } = receiverWith({ emit });

  for (const _ of [1, 2, 3]) await receiver.receive(request, () => undefined);

  assert.deepEqual([accounted, refused, loud(), receiver.refusals], [[], [], [], 0]);
});

test("of one cause one line is logged at once, and one a minute with the number of those since", async () => {
  const { receiver, pass, loud } = receiverWith({ handler: throwing(rejected) });

  await receiver.receive(request);
  for (let n = 0; n < 5; n++) await receiver.receive(request);
  const before = loud().length;
  pass(60_000);
  await receiver.receive(request);
  await receiver.receive(request);
  receiver.stop();

  assert.equal(before, 1);
  assert.deepEqual(
    loud().map(({ fields }) => ("count" in fields ? fields.count : undefined)),
    [1, 6, 1],
  );
});

test("causes of a plugin that invents names do not become labels, and there are never more than 51 lines at once", async () => {
  let number = 0;
  const decode = () => {
    number += 1;
    throw new RejectedRequest(400, "no", {}, undefined, number % 2 === 0 ? `Room ${number}` : `room-${number}`);
  };
  const { receiver, refused, loud } = receiverWith({ handler: { decode } });

  for (let n = 0; n < 300; n++) await receiver.receive(request);

  assert.deepEqual([...new Set(refused.filter((_, index) => index % 2 === 1).map(({ cause }) => cause))], ["other"]);
  assert.equal(loud().length, 51);
});

test("a notification without entities is accepted, and warned about", async () => {
  const handler: Handler = { decode: () => ({ events: [], service: "openiot", servicePath: "/" }) };
  const { receiver, refused, loud } = receiverWith({ handler });

  for (const _ of [1, 2]) assert.equal((await receiver.receive(request)).accepted, true);
  receiver.stop();

  assert.deepEqual(refused, []);
  assert.deepEqual(
    loud().map(({ level, fields }) => [level, "count" in fields ? fields.count : undefined]),
    [
      ["warn", 1],
      ["warn", 1],
    ],
  );
});

test("what the source itself refused is counted, accounted and logged like the rest, also with a hostile reason", () => {
  const { receiver, accounted, refused, loud } = receiverWith();

  receiver.refused({ status: 401, cause: "token", reason: "x".repeat(100_000), responseBytes: 9 });

  assert.deepEqual(refused, [{ status: 401, cause: "token" }]);
  assert.deepEqual(accounted, [{ service: "", servicePath: "/", requestBytes: 0, responseBytes: 9, failed: true }]);
  assert.ok(JSON.stringify(loud()).length < 1000);
});

const hostile = `/a\u0000b\nc\u202e${"x".repeat(5000)}`;
const addressees = [
  { given: { topic: "orion/room" }, fields: { topic: "orion/room", service: "t" } },
  { given: { path: "/notify?token=secret" }, fields: { path: "/notify", service: "t" } },
  { given: { topic: hostile }, fields: { topic: `/a\ufffdb\ufffdc\ufffd${"x".repeat(193)}`, service: "t" } },
] as const;
for (const { given, fields: expected } of addressees)
  test(`a refusal is logged with where it went: ${JSON.stringify(expected).slice(0, 60)}`, async () => {
    const { receiver, loud } = receiverWith({ handler: throwing(rejected) });

    await receiver.receive({ ...request, ...given });
    receiver.refused({ status: 413, cause: "content-too-large", reason: "no", service: "t", ...given });

    const common = { ...expected, count: 1 };
    assert.deepEqual(
      loud().map(({ fields }) => fields),
      [
        { status: 415, cause: "content-type", reason: "no such type", ...common },
        { status: 413, cause: "content-too-large", reason: "no", ...common },
      ],
    );
  });

test("a request that no handler read is logged with the service of its headers", async () => {
  const { receiver, loud } = receiverWith({ handler: throwing(new TypeError("x is not a function")) });

  await receiver.receive({ ...request, headers: { "ngsild-tenant": "farm" } });

  assert.match(JSON.stringify(loud()), /"path":"\/notify","service":"farm"/);
});

test("receiving without a handler is an error of the plugin", async () => {
  const { log } = recordingLog();
  const observer = { received: () => undefined };
  const emit = async () => undefined;
  const receiver = new Receiver({ name: "s", log, observer, emit, handler: undefined, now: () => receivedAt });

  await assert.rejects(receiver.receive(request), { code: "NO_HANDLER" });
});

const wrongResults = [
  { returned: async () => ({ events: [] }), is: "a promise: decode must return the events at once" },
  { returned: async () => assert.fail("late"), is: "a promise: decode must return the events at once" },
  { returned: () => undefined, is: "no object with events, service and servicePath" },
  { returned: () => ({ events: "none", ...sender }), is: "as events a string in place of a list of events" },
  {
    returned: () => ({ events: [{ body: 1 }], ...sender }),
    is: "as events an object without headers in place of an event",
  },
  { returned: () => ({ events: [], servicePath: "/" }), is: "no text as service" },
  { returned: () => ({ events: [], service: "t" }), is: "no text as servicePath" },
];
for (const { returned, is } of wrongResults)
  test(`a handler that returns ${is} is named, and the sender is answered with 500`, async () => {
    const handler = throwing(undefined);
    Reflect.set(handler, "decode", returned);
    const { receiver, emitted, accounted, loud } = receiverWith({ handler });
    const answers: number[] = [];

    const reception = await receiver.receive(request, ({ status }) => answers.push(status));

    assert.equal(reception.accepted, false);
    assert.deepEqual(answers, [500]);
    assert.equal(emitted.length, 0);
    assert.equal(accounted.length, 1);
    const reason = String(Reflect.get(loud()[0]?.fields ?? {}, "reason"));
    assert.ok(reason.startsWith('decoding a request by the handler "without a name" of source "s": '), reason);
    assert.ok(reason.includes(`its decode returned ${is}`), reason);
  });

for (const { what, given, lacks } of [
  { what: "a text as body", given: { ...request, body: "secret text" }, lacks: "a body of bytes" },
  { what: "no body", given: { ...request, body: undefined }, lacks: "a body of bytes" },
  { what: "a number as time", given: { ...request, receivedAt: receivedAt.getTime() }, lacks: "a Date as receivedAt" },
  { what: "no time", given: { ...request, receivedAt: undefined }, lacks: "a Date as receivedAt" },
  { what: "no path", given: { ...request, path: undefined }, lacks: "texts as method and path" },
  { what: "no headers", given: { ...request, headers: undefined }, lacks: "an object as headers" },
  { what: "nothing at all", given: undefined, lacks: "a body of bytes" },
])
  test(`a source that hands over a request with ${what} is named; nothing of it is emitted, and further ones are taken`, async () => {
    const emit = async () => {};
    const { receiver, emitted, accounted, loud } = receiverWith({ emit });

    const wrong = await Reflect.apply(receiver.receive, undefined, [given]);
    const next = [await receiver.receive(request), await receiver.receive(request)];

    assert.equal(wrong.accepted ? 200 : wrong.status, 500);
    const reason = String(Reflect.get(loud()[0]?.fields ?? {}, "reason"));
    assert.equal(reason, `source "s" handed over a request without ${lacks}; its plugin must be corrected`);
    assert.deepEqual(next, [{ accepted: true }, { accepted: true }]);
    assert.deepEqual([emitted.length, accounted.map(({ requestBytes }) => requestBytes)], [2, [0, 12, 12]]);
  });

test("a handler that refuses with a status that accepts is named, and what it must be", async () => {
  const { receiver, loud } = receiverWith({ handler: throwing(new RejectedRequest(200, "ignored")) });

  await receiver.receive(request);

  assert.equal(
    Reflect.get(loud()[0]?.fields ?? {}, "reason"),
    'decoding a request by the handler "without a name" of source "s", which refuses it with status 200: ' +
      "it must be one of 400 to 599, and its plugin be corrected: ignored",
  );
});

test("the text that a body was read from is there while channels take the event, and forgotten then", async () => {
  textCodecs([{ name: "c", decode: () => undefined }]);
  const body = { id: "a" };
  const text = { codec: "c", options: "{}", text: "sent" };
  const keeping: Handler = {
    decode: () => {
      keepText(body, text);
      return { events: [{ headers: {}, body }], service: "", servicePath: "" };
    },
  };
  const seen: unknown[] = [];
  const failing = new Error("no room");
  for (const emit of [async () => {}, () => Promise.reject(failing), () => atOnce]) {
    const { receiver } = receiverWith({
      handler: keeping,
      emit: () => {
        seen.push(keptTextOf(body));
        return emit();
      },
    });
    await receiver.receive(request);
    seen.push(keptTextOf(body));
  }

  assert.deepEqual(seen, [text, undefined, text, undefined, text, undefined]);
});
