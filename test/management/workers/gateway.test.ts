import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { until } from "../../support/until.js";
import { runningTeam, since } from "./running-team.js";

const two = { workers: [{}, {}] };

test("statistics and ledger are the sums of all workers, which are listed with what each of them has", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[0]?.accept();
  await workers[1]?.accept();
  await workers[1]?.accept();

  const { body } = await until(
    () => call("GET", "/v1/stats"),
    ({ body: { stats } }) => stats.ledger.channels[0].stored === 3,
  );

  const { sources, channels, sinks, ledger, health, workers: listed } = body.stats;
  assert.equal(body.success, "true");
  assert.deepEqual([sources.length, channels.length, sinks.length], [1, 1, 1]);
  assert.deepEqual([sources[0].name, sources[0].status, sources[0].num_processed_events], ["s1", "START", 3]);
  assert.deepEqual([channels[0].num_puts_ok, channels[0].capacity], [3, 20]);
  assert.equal(sinks[0].num_persisted_events, 3);
  assert.deepEqual([ledger.channels[0].received, ledger.channels[0].unaccounted, ledger.unaccounted], [3, 0, 0]);
  assert.deepEqual(ledger.channels[0].sinks, [{ name: "k1", stored: 3, dead_lettered: 0, filtered: 0 }]);
  assert.deepEqual(
    health.map(({ name, state }: { readonly name: string; readonly state: string }) => `${name} ${state}`),
    ["s1 up", "c1 up", "k1 up"],
  );
  const common = { state: "running", since: since.toISOString(), receives: true };
  assert.deepEqual(listed, [
    { number: 1, pid: 1001, ...common, received: 1, stored: 1 },
    { number: 2, pid: 1002, ...common, received: 2, stored: 2 },
  ]);
});

test("a worker that is gone is an obstacle with its reason, and the statistics are those of the others", async (context) => {
  const { call, change } = await runningTeam(context, two);
  const before = await call("GET", "/ready");
  change(2, { state: "restarting", reason: "it ended with signal SIGKILL", pid: undefined });

  const ready = await call("GET", "/ready");
  const { body } = await call("GET", "/v1/stats");

  assert.deepEqual([before.status, before.body], [200, { status: "ready" }]);
  const reason = "restarting: it ended with signal SIGKILL";
  assert.equal(ready.status, 503);
  assert.deepEqual(ready.body.obstacles, [{ component: "worker 2", reason, since: since.toISOString() }]);
  assert.equal(body.stats.channels[0].capacity, 10);
  const [, gone] = body.stats.workers;
  assert.deepEqual([gone.state, gone.reason, gone.received], ["restarting", "it ended with signal SIGKILL", undefined]);
});

test("a worker that does not answer is an obstacle since it was silent for the first time", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[1]?.close();

  const first = await call("GET", "/ready");
  const second = await call("GET", "/ready");

  assert.equal(first.status, 503);
  assert.deepEqual(
    [first.body.obstacles[0].component, first.body.obstacles[0].reason],
    ["worker 2", "does not answer"],
  );
  assert.deepEqual(second.body, first.body);
});

test("where no worker answers a read is refused, and the process lives", async (context) => {
  const { call, workers, change } = await runningTeam(context, two);
  await workers[0]?.close();
  change(2, { state: "starting" });

  const stats = await call("GET", "/v1/stats");
  const live = await call("GET", "/live");

  assert.deepEqual([stats.status, stats.headers.get("retry-after")], [503, "1"]);
  assert.match(stats.body.error, /No worker answers.*worker 1 is running; worker 2 is starting/);
  assert.deepEqual([live.status, live.body], [200, { status: "live" }]);
});

test("a question that one worker answers goes to the first that listens", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[0]?.close();

  const { status, body, headers } = await call("GET", "/v1/topology", { headers: { "fiware-correlator": "c-1" } });

  assert.equal(status, 200);
  assert.deepEqual(
    body.topology.components.map(({ id }: { readonly id: string }) => id),
    ["source:s1", "channel:c1", "sink:k1"],
  );
  assert.equal(headers.get("fiware-correlator"), "c-1");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
});

test("a change reaches all workers", async (context) => {
  const { call } = await runningTeam(context, two);

  const { status, body } = await call("PUT", "/v1/admin/log?level=DEBUG");
  const levels = await Promise.all([1, 2].map((number) => call("GET", `/workers/${number}/v1/admin/log`)));

  assert.deepEqual([status, body.success], [200, "log4j logging level updated to DEBUG"]);
  assert.deepEqual(
    levels.map((one) => one.body.level),
    ["DEBUG", "DEBUG"],
  );
});

test("a change is made nowhere while a worker does not run, and the answer names it", async (context) => {
  const { call, change } = await runningTeam(context, two);
  const before = await call("GET", "/v1/admin/log");
  change(2, { state: "restarting", reason: "it ended with exit code 1" });

  const { status, body } = await call("PUT", "/v1/admin/log?level=DEBUG");
  const after = await call("GET", "/v1/admin/log");

  assert.equal(status, 503);
  assert.match(body.error, /Nothing is changed: worker 2 is restarting: it ended with exit code 1/);
  assert.deepEqual(after.body, before.body);
});

test("a change is made nowhere while a worker does not answer", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  const before = await call("GET", "/v1/admin/log");
  await workers[1]?.close();

  const { status, body, headers } = await call("PUT", "/v1/admin/log?level=DEBUG");
  const after = await call("GET", "/v1/admin/log");

  assert.deepEqual([status, headers.get("retry-after")], [503, "5"]);
  assert.match(body.error, /Nothing is changed: worker 2 does not answer/);
  assert.deepEqual(after.body, before.body);
});

test("a file that all workers read is not changed while the first does not answer", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[0]?.close();

  const { status, body } = await call("POST", "/v1/namemappings", { body: "{}" });

  assert.equal(status, 503);
  assert.match(body.error, /Nothing is changed: worker 1 does not answer/);
});

test("a change that a worker breaks off is refused with what is to be done", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[1]?.close();
  await workers[1]?.serve(({ url, socket }, answer) => (url === "/live" ? answer.end("{}") : socket.destroy()));

  const { status, body } = await call("PUT", "/v1/admin/log?level=DEBUG");

  assert.equal(status, 503);
  assert.match(
    body.error,
    /asking worker 2, which ended the connection.*; other workers have made the change\. Repeat it/,
  );
});

for (const [number, others] of [
  [1, ""],
  [2, "; other workers have made the change. Repeat it"],
] as const)
  test(`a change is refused once its supervisor says that worker ${number}, which has got it, is silent`, async (context) => {
    const { call, workers, change } = await runningTeam(context, two);
    const worker = workers[number - 1];
    await worker?.close();
    await worker?.serve(({ url }, answer) => {
      if (url === "/live") answer.end("{}");
      else change(number, { state: "silent" });
    });

    const { status, body } = await call("PUT", "/v1/admin/log?level=DEBUG");

    assert.equal(status, 503);
    assert.equal(
      body.error,
      `asking worker ${number}, which has fallen silent: it may still do it when it goes on${others}`,
    );
  });

test("what the first worker refuses no other worker is asked for", async (context) => {
  const { call } = await runningTeam(context, two);

  const { status, body } = await call("PUT", "/v1/admin/log?level=LOUD");

  assert.deepEqual([status, body.error], [400, "Invalid log level"]);
});

test("name mappings are changed by the first worker", async (context) => {
  const { call } = await runningTeam(context, two);
  const body = JSON.stringify({ serviceMapping: [{ originalService: "a", newService: "b" }] });

  const added = await call("POST", "/v1/namemappings", { body });
  const read = await call("GET", "/v1/namemappings");

  assert.equal(added.status, 200);
  assert.equal(read.body.serviceMapping[0].newService, "b");
});

const unknown = ["/v1/nothing", "/workers", "/workers/1", "/workers/2/workers/1/v1/stats", "/workers/x/v1/stats"];

for (const path of unknown)
  test(`${path} is answered 404 by the gateway`, async (context) => {
    const { call } = await runningTeam(context, two);

    const { status, body } = await call("GET", path);

    assert.deepEqual([status, body.success], [404, "false"]);
  });

test("everything of one worker can be asked below its number", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[1]?.accept();

  const stats = await until(
    () => call("GET", "/workers/2/v1/stats"),
    ({ body }) => body.stats.sinks[0].num_persisted_events === 1,
  );
  const metrics = await call("GET", "/workers/1/metrics");
  const none = await call("GET", "/workers/3/v1/stats");

  assert.equal(stats.body.stats.workers, undefined);
  assert.match(metrics.text, /^deneb_channel_events\{channel="c1"\} 0$/m);
  assert.deepEqual([none.status, none.body.error], [404, "There is no worker 3; there are 1, 2"]);
});

test("metrics by service are added up, and with reset=true all workers begin again", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  await workers[0]?.accept();
  await workers[1]?.accept();
  const { body } = await until(
    () => call("GET", "/v1/admin/metrics"),
    (answer) => answer.body.sum.sum.outgoingTransactions === 2,
  );

  const reset = await call("GET", "/admin/metrics?reset=true");
  const after = await call("GET", "/v1/admin/metrics");

  assert.deepEqual([body.success, Object.keys(body.services)], [undefined, ["openiot"]]);
  assert.equal(reset.body.services.openiot.sum.outgoingTransactions, 2);
  assert.equal(after.body.sum.sum.outgoingTransactions, 0);
});

test("the verification names the worker of each note, and those that are not compared", async (context) => {
  const { call, change } = await runningTeam(context, { workers: [{}, {}, {}] });
  change(3, { state: "stopping" });

  const { verification } = (await call("GET", "/v1/admin/verify")).body;

  assert.equal(verification.ok, true);
  assert.deepEqual(verification.unknown, ["worker 3 is not compared: it is stopping"]);
  assert.deepEqual(
    verification.channels.map(({ name }: { readonly name: string }) => name),
    ["c1"],
  );
});

test("an erasure is made by all workers", async (context) => {
  const { call } = await runningTeam(context, two);

  const { status, body } = await call("POST", "/v1/admin/erasures", { body: JSON.stringify({ service: "openiot" }) });

  assert.equal(status, 200);
  assert.deepEqual(body, {
    success: "true",
    dry_run: false,
    dead_letters: 0,
    channels: [{ channel: "c1", waiting: 0 }],
    unsettled: [],
  });
});

test("the page is that of the gateway", async (context) => {
  const { call } = await runningTeam(context, two);

  const { status, headers } = await call("GET", "/ui/");

  assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
});

test("a broker that takes as long as it may is waited for", async (context) => {
  const { call, workers } = await runningTeam(context, two);
  const [first] = workers;
  await first?.close();
  const calls = new EventEmitter<{ asked: [ServerResponse] }>();
  await first?.serve((_request, answer) => calls.emit("asked", answer));
  context.mock.timers.enable({ apis: ["setTimeout"] });

  const asked = once(calls, "asked");
  const answering = call("POST", "/v1/subscriptions?ngsi_version=2", {});
  const [response] = await asked;
  context.mock.timers.tick(100_000);
  response.setHeader("Content-Type", "application/json").writeHead(504).end('{"error":"the subscription may exist"}');
  const { status, body } = await answering;

  assert.deepEqual([status, body.error], [504, "the subscription may exist"]);
});
