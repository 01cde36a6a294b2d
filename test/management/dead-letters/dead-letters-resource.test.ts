import assert from "node:assert/strict";
import { mkdir, readFile, rmdir } from "node:fs/promises";
import { connect } from "node:net";
import { test } from "node:test";
import { type DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { latch } from "../../support/latch.js";
import { until } from "../../support/until.js";
import { deadLetter, serve } from "./dead-letters.js";

test("the list counts all dead letters, shows a page of them without their events, and only those of one sink on request", async (context) => {
  const { call, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a"), deadLetter("b")]);
  await deadLetters.keep([deadLetter("z", "gone")]);

  const all = await call("GET", "");
  const part = await call("GET", "?sink=k1&limit=1&offset=1");

  assert.equal(all.body.success, "true");
  assert.equal(all.body.count, 3);
  const { event: _event, ...shown } = deadLetter("b");
  assert.deepEqual(part.body, { success: "true", count: 2, deadletters: [{ ...shown, state: "waiting" }] });
});

test("lists are made one after another, and none for a caller that has left", async (context) => {
  const { call, port, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a")]);
  const read = deadLetters.open.bind(deadLetters);
  let begun = 0;
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  deadLetters.open = async function* (sink) {
    begun += 1;
    await held;
    yield* read(sink);
  };

  const first = call("GET", "");
  await until(async () => begun, Boolean);
  const leaving = connect(port, "127.0.0.1");
  leaving.write("GET /v1/admin/deadletters HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await call("GET", "/search");
  const last = call("GET", "");
  await call("GET", "/search");
  const together = begun;
  leaving.destroy();
  await call("GET", "/search");
  letGo();
  const answers = await Promise.all([first, last]);

  assert.equal(together, 1);
  assert.deepEqual(
    answers.map(({ body }) => body.count),
    [1, 1],
  );
  assert.equal(begun, 2);
});

test("each letter of a list is described in a turn of the event loop of its own, so that a long list holds up nothing else", async (context) => {
  let turn = 0;
  const turns: number[] = [];
  const { call, deadLetters } = await serve(context, { explained: () => turns.push(turn) });
  await deadLetters.keep(Array.from({ length: 20 }, (_, number) => deadLetter(`letter${number}`)));
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();

  await call("GET", "");
  isOver = true;

  assert.equal(turns.length, 20);
  assert.equal(new Set(turns).size, 20);
});

test("one dead letter is shown with its event", async (context) => {
  const { call, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a")]);

  const { status, body } = await call("GET", "/a");

  assert.equal(status, 200);
  assert.deepEqual(body.deadletter, { ...deadLetter("a"), state: "waiting" });
});

test("a replay gives the sink the event with the id of the dead letter, which is then removed", async (context) => {
  const { call, deadLetters, sink } = await serve(context);
  await deadLetters.keep([deadLetter("a"), deadLetter("b"), deadLetter("c")]);

  const { body } = await call("POST", "/a/replay");
  const left = await until(
    () => call("GET", ""),
    (seen) => seen.body.count === 2,
  );

  assert.deepEqual(body, { success: "true", replayed: 1, underway: 0, refused: 0 });
  assert.deepEqual(sink.stored, [{ headers: { name: "a", "deneb-dead-letter": "a" }, body: { n: 1 } }]);
  assert.deepEqual(
    left.body.deadletters.map(({ id }: { readonly id: string }) => id),
    ["b", "c"],
  );
});

test("a dead letter is not replayed while this agent replays it, and is replayed again when a previous agent did", async (context) => {
  const { call, deadLetters, folder } = await serve(context);
  await deadLetters.keep([deadLetter("own"), deadLetter("old")]);
  await deadLetters.mark("k1", ["own"], "replaying");
  await new DeadLetters(folder).mark("k1", ["old"], "replaying");

  const { body } = await call("POST", "/replay");

  assert.deepEqual(body, { success: "true", replayed: 1, underway: 1, refused: 0 });
});

const rejected = [
  { method: "GET", path: "/nothing", status: 404, error: /dead letter nothing not found/ },
  { method: "POST", path: "/nothing/replay", status: 404, error: /dead letter nothing not found/ },
  { method: "DELETE", path: "/nothing", status: 404, error: /dead letter nothing not found/ },
  {
    method: "DELETE",
    path: "",
    status: 400,
    error: /Give sink, service, entity, type, reason, code, text, since, until, or all=true/,
  },
  { method: "GET", path: "?limit=many", status: 400, error: /limit is a whole number/ },
  { method: "DELETE", path: "?all=false", status: 400, error: /or all=true/ },
  {
    method: "GET",
    path: "?reason=bad",
    status: 400,
    error: /reason "bad" is none; give permanent or retries-exhausted or crashed-the-agent/,
  },
  { method: "GET", path: "?since=soon", status: 400, error: /since "soon" is no time/ },
  { method: "DELETE", path: "?service=", status: 400, error: /service has no value/ },
  { method: "POST", path: "/replay?snik=k1", status: 400, error: /Unknown parameter snik/ },
  { method: "DELETE", path: "?sink=k1&dry_run=true", status: 400, error: /Unknown parameter dry_run/ },
  { method: "DELETE", path: "?all=true&limit=1", status: 400, error: /Unknown parameter limit/ },
  { method: "DELETE", path: "?all=yes", status: 400, error: /all is true or false/ },
  { method: "DELETE", path: "/a?dry_run=true", status: 400, error: /Unknown parameter dry_run. This call has none/ },
  { method: "POST", path: "/replay?limit=1", status: 400, error: /Unknown parameter limit/ },
  { method: "POST", path: "/replay?dry_run", status: 400, error: /dry_run is true or false/ },
  { method: "POST", path: "/replay?explain=1", status: 400, error: /explain is for dry_run=true/ },
  { method: "POST", path: "/a/replay?dry_run=1", status: 400, error: /dry_run is true or false/ },
  { method: "POST", path: "/a/replay?dryRun=true", status: 400, error: /Unknown parameter dryRun. Known are dry_run/ },
  { method: "GET", path: "?sink=nobody", status: 404, error: /no sink "nobody".*the agent has "k1"/ },
  { method: "POST", path: "/replay?sink=nobody", status: 404, error: /no sink "nobody"/ },
  { method: "DELETE", path: "?sink=nobody", status: 404, error: /no sink "nobody"/ },
  { method: "POST", path: "/replay?sink=gone", status: 409, error: /sink "gone", which the agent does not have/ },
] as const;

for (const { method, path, status, error } of rejected)
  test(`${method} /v1/admin/deadletters${path} is answered ${status}, and the dead letters stay`, async (context) => {
    const { call, deadLetters } = await serve(context);
    await deadLetters.keep([deadLetter("a")]);
    await deadLetters.keep([deadLetter("z", "gone")]);

    const reply = await call(method, path);
    const list = await call("GET", "");

    assert.equal(reply.status, status);
    assert.equal(reply.body.success, "false");
    assert.match(reply.body.error, error);
    assert.equal(list.body.count, 2);
  });

test("the refusal of a replay names the groups beside their sinks, since dead letters are kept under both", async (context) => {
  const { call, deadLetters } = await serve(context, { group: "g1" });
  await deadLetters.keep([deadLetter("z", "gone")]);

  const { status, body } = await call("POST", "/replay");

  assert.equal(status, 409);
  assert.match(body.error, /which the agent does not have; it has "g1", "k1": give a sink or a group the name/);
});

const choices = [
  { query: "service=openiot", ids: ["a", "b"] },
  { query: "service=openiot&entity=Room2", ids: ["b"] },
  { query: "entity=Room1", ids: ["a", "c"] },
  { query: "reason=retries-exhausted", ids: ["c"] },
  { query: "since=2026-01-15T10:00:00.001Z", ids: ["b"] },
  { query: "service=%20openiot", ids: [] },
] as const;

for (const { query, ids } of choices)
  test(`the choice ${query} lists ${ids.join(" and ")}, and a drop deletes only these`, async (context) => {
    const { call, deadLetters } = await serve(context);
    const about = (id: string, service: string, entity: string): DeadLetter => ({
      ...deadLetter(id),
      event: { headers: { "fiware-service": service }, body: { id: entity, type: "Room" } },
    });
    await deadLetters.keep([
      about("a", "openiot", "Room1"),
      { ...about("b", "openiot", "Room2"), time: "2026-01-15T10:00:00.001Z" },
      { ...about("c", "other", "Room1"), reason: "retries-exhausted" },
    ]);

    const list = await call("GET", `?${query}`);
    const dropped = await call("DELETE", `?${query}`);
    const left = await call("GET", "");

    const idsOf = (given: readonly { readonly id: string }[]) => given.map(({ id }) => id);
    assert.deepEqual(idsOf(list.body.deadletters), ids);
    assert.equal(dropped.body.dropped, ids.length);
    assert.equal(left.body.count, 3 - ids.length);
    for (const shown of list.body.deadletters) assert.deepEqual([shown.entityType, shown.event], ["Room", undefined]);
  });

test("a dry run reports what would be replayed, and changes nothing", async (context) => {
  const { call, deadLetters, sink } = await serve(context);
  await deadLetters.keep([deadLetter("a"), deadLetter("b"), deadLetter("c")]);
  await deadLetters.keep([deadLetter("z", "gone")]);
  await deadLetters.mark("k1", ["b"], "replaying");

  const dry = await call("POST", "/replay?dry_run=true");
  const list = await call("GET", "");

  assert.equal(dry.status, 409);
  assert.deepEqual([dry.body.replayed, dry.body.underway, dry.body.refused], [2, 1, 1]);
  assert.deepEqual(
    list.body.deadletters.map(({ id, state }: { readonly id: string; readonly state: string }) => `${id} ${state}`),
    ["z waiting", "a waiting", "b replaying", "c waiting"],
  );
  assert.equal(sink.stored.length, 0);
});

test("an unknown sink does not prevent the replay to other sinks, and the answer counts both", async (context) => {
  const { call, deadLetters, sink } = await serve(context);
  await deadLetters.keep([deadLetter("z", "gone"), deadLetter("y", "gone")]);
  await deadLetters.keep([deadLetter("a")]);

  const { status, body } = await call("POST", "/replay");
  await until(
    async () => sink.stored.length,
    (count) => count === 1,
  );

  assert.equal(status, 409);
  assert.deepEqual([body.replayed, body.underway, body.refused], [1, 0, 2]);
  assert.deepEqual(body.refusals[0].sink, "gone");
  assert.equal(body.refusals[0].letters, 2);
});

test("a dropped dead letter is deleted from the disk before the answer; one that is being replayed stays", async (context) => {
  const { call, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("gone-for-good"), deadLetter("on-its-way")]);
  await deadLetters.mark("k1", ["on-its-way"], "replaying");

  const { body } = await call("DELETE", "?all=true");
  const text = await readFile(deadLetters.fileOf("k1"), "utf8");

  assert.deepEqual(body, { success: "true", dropped: 1, underway: 1 });
  assert.doesNotMatch(text, /gone-for-good/);
  assert.match(text, /on-its-way/);
});

test("a drop deletes the dead letters of one sink only", async (context) => {
  const { call, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a"), deadLetter("b")]);
  await deadLetters.keep([deadLetter("z", "gone")]);

  const { body } = await call("DELETE", "?sink=k1");
  const left = await call("GET", "");

  assert.deepEqual(body, { success: "true", dropped: 2, underway: 0 });
  assert.equal(left.body.count, 1);
});

test("a replay into a channel that is full is answered 503 and leaves the dead letters waiting", async (context) => {
  const { call, deadLetters, sink } = await serve(context);
  const { opened: held, open: hold } = latch();
  context.after(() => hold());
  sink.persist = async () => {
    await held;
    return { requestBytes: 0, responseBytes: 0 };
  };
  await deadLetters.keep([deadLetter("a"), deadLetter("b"), deadLetter("c")]);

  const { status, body } = await call("POST", "/replay");
  const list = await call("GET", "");

  assert.equal(status, 503);
  assert.match(body.error, /channel "c1" is full/);
  const states = list.body.deadletters.map(({ state }: { readonly state: string }) => state);
  assert.deepEqual(states, ["replaying", "replaying", "waiting"]);
});

test("a drop that the disk does not take is answered 503 with the reason, and may be repeated", async (context) => {
  const { call, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a"), deadLetter("b")]);
  const file = deadLetters.fileOf("k1");
  await mkdir(`${file}.new`);

  const { status, body } = await call("DELETE", "/a");
  await rmdir(`${file}.new`);
  await call("DELETE", "/b");

  assert.equal(status, 503);
  assert.match(body.error, /^removing the texts of settled dead letters from ".*k1.ndjson", where they stay .*EISDIR/);
  assert.equal(await readFile(file, "utf8"), "");
});
