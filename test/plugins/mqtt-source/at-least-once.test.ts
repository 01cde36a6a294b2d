import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError } from "../../../core/sdk/index.js";
import { startOwnMosquitto } from "../../support/own-mosquitto.js";
import { until } from "../../support/until.js";
import { proxyTo } from "./proxy.js";
import { brokerProgram, notification, publisher, runningSource, sharedBroker } from "./running-source.js";

const patient = new AbortController().signal;

test("a message that the channels do not have when the agent goes is delivered to the next one", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const first = await runningSource(context, { config: broker.config, emit: () => new Promise(() => {}) });
  await first.logged("subscribed");
  for (const value of [1, 2]) await broker.publish(broker.topic, notification(value));

  await first.source.stop(AbortSignal.abort());
  const second = await runningSource(context, { config: broker.config });

  assert.deepEqual(await second.received(2), ["1", "2"]);
});

test("a message that waits for room when the agent stops is delivered to the next one", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const emit = async () => {
    throw new AgentError("CHANNEL_FULL", "putting events in a full channel", { retryable: true });
  };
  const first = await runningSource(context, { config: { ...broker.config, channel_retry_interval: 60_000 }, emit });
  await first.logged("subscribed");
  await broker.publish(broker.topic, notification(1));
  await first.logged("message held until the channels take it");

  await first.source.stop(patient);
  const second = await runningSource(context, { config: broker.config });

  assert.deepEqual(await second.received(1), ["1"]);
});

test("a message that the channels took while the agent stopped is not delivered again", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const took: { end?: () => void } = {};
  const emit = () =>
    new Promise<void>((resolve) => {
      took.end = resolve;
    });
  const first = await runningSource(context, { config: broker.config, emit });
  await first.logged("subscribed");
  await broker.publish(broker.topic, notification(1));
  await until(
    async () => took.end,
    (end) => end !== undefined,
  );

  const stopped = first.source.stop(patient);
  took.end?.();
  await stopped;
  const second = await runningSource(context, { config: broker.config });
  await second.logged("subscribed");
  await broker.publish(broker.topic, notification(2));

  assert.deepEqual(await second.received(1), ["2"]);
  assert.equal(first.emitted.length, 1);
});

test("what is published while the agent is away is delivered when it is back", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const first = await runningSource(context, { config: broker.config });
  await first.logged("subscribed");
  await first.source.stop(patient);

  for (const value of [1, 2, 3]) await broker.publish(broker.topic, notification(value));
  const second = await runningSource(context, { config: broker.config });

  assert.deepEqual(await second.received(3), ["1", "2", "3"]);
});

test("with clean_session the broker forgets what is published while the agent is away", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const config = { ...broker.config, clean_session: true };
  const first = await runningSource(context, { config });
  await first.logged("subscribed");
  await first.source.stop(patient);

  await broker.publish(broker.topic, notification(1));
  const second = await runningSource(context, { config });
  await second.logged("subscribed");
  await broker.publish(broker.topic, notification(2));

  assert.deepEqual(await second.received(1), ["2"]);
});

test("a source waits for a broker that is away, and comes back to one that was", async (context) => {
  const program = await brokerProgram(context);
  if (program === undefined) return;
  const gone = await startOwnMosquitto(program);
  const { port } = gone;
  await gone.stop();
  const url = `mqtt://127.0.0.1:${port}`;
  const source = await runningSource(context, { config: { url, topics: ["orion/#"] } });
  await source.logged("no connection to the broker");

  for (const value of [1, 2]) {
    const broker = await startOwnMosquitto(program, { port });
    context.after(broker.stop);
    await source.logged("subscribed", value);
    const publish = await publisher(context, url);
    await publish("orion/a", notification(value));
    await source.received(value);
    await broker.stop();
    await source.logged("no connection to the broker", value + 1);
  }

  assert.deepEqual(await source.received(2), ["1", "2"]);
});

const restarts = [
  { what: "a broker that forgets its sessions", clean_session: false, warnings: 1 },
  { what: "a session that need not be kept", clean_session: true, warnings: 0 },
] as const;

for (const { what, clean_session, warnings } of restarts)
  test(`behind a restart of ${what} there are ${warnings} warnings of lost messages`, async (context) => {
    const program = await brokerProgram(context);
    if (program === undefined) return;
    const broker = await startOwnMosquitto(program);
    const config = { url: `mqtt://${broker.host}:${broker.port}`, topics: ["orion/#"], clean_session };
    const source = await runningSource(context, { config });
    await source.logged("subscribed");

    await broker.stop();
    const next = await startOwnMosquitto(program, { port: broker.port });
    context.after(next.stop);
    await source.logged("subscribed", 2);
    const publish = await publisher(context, config.url);
    await publish("orion/a", notification(1));
    await source.received(1);

    const lost = source.lines.filter(({ message }) => message.startsWith("the broker did not keep the session"));
    assert.equal(lost.length, warnings);
  });

test("what was taken over a connection that is gone is not acknowledged over the next one", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const proxy = await proxyTo(context, Number(new URL(broker.url).port));
  const takes: (() => void)[] = [];
  const emit = () => new Promise<void>((resolve) => takes.push(resolve));
  const waiting = (count: number) =>
    until(
      async () => takes.length,
      (length) => length === count,
    );
  const config = { ...broker.config, url: `mqtt://127.0.0.1:${proxy.port}` };
  const { logged, received } = await runningSource(context, { config, emit });
  await logged("subscribed");
  for (const value of [1, 2]) await broker.publish(broker.topic, notification(value));
  await waiting(1);

  proxy.cut();
  await waiting(2);
  for (const take of takes) take();
  await waiting(3);
  takes[2]?.();

  assert.deepEqual(await received(3), ["1", "1", "2"]);
});
