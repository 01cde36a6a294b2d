import assert from "node:assert/strict";
import { test } from "node:test";
import { ShortConnections } from "../../../plugins/mqtt-source/short-connections.js";
import { until } from "../../support/until.js";
import { notification, runningSource, sharedBroker } from "./running-source.js";

test("two sources with one client_id say so as long as the broker throws each out for the other, and no longer", async (context) => {
  const broker = await sharedBroker(context);
  if (broker === undefined) return;
  const setting = { config: broker.config, steadyMillis: 2000 };
  const shared = new RegExp(`another agent or source probably has the client_id "${broker.config.client_id}"`);
  const [one, other] = [await runningSource(context, setting), await runningSource(context, setting)];
  const lastOf = (source: typeof one) => source.health.at(-1);
  const isSaid = (source: typeof one) => shared.test(lastOf(source)?.reason ?? "");

  await until(
    async () => [one, other].every(isSaid),
    (areBoth) => areBoth,
  );
  const saidBy = ({ lines }: typeof one) =>
    lines.filter(({ level, fields }) => level === "warn" && shared.test(String(Object(fields).reason)));
  const said = [saidBy(one).length, saidBy(other).length];
  await other.source.stop(AbortSignal.abort());
  await until(
    async () => lastOf(one)?.state,
    (state) => state === "up",
  );
  await broker.publish(`${broker.topic}/a`, notification(1));

  assert.deepEqual(said, [1, 1]);
  assert.deepEqual(await one.received(1), ["1"]);
});

const short = (connections: ShortConnections) => {
  connections.begin(() => undefined);
  connections.end(true);
};

for (const { what, between } of [
  { what: "one that lasts", between: (_: ShortConnections, pass: () => void) => pass() },
  { what: "one that fails for another reason", between: (connections: ShortConnections) => connections.end(false) },
])
  test(`short connections with ${what} among them are not taken for those of two clients with one name`, (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const connections = new ShortConnections(1000);
    const pass = () => {
      connections.begin(() => undefined);
      context.mock.timers.tick(1000);
      connections.end(true);
    };

    for (const one of [short, short, (own: ShortConnections) => between(own, pass), short, short]) one(connections);
    const before = connections.areSeveral;
    short(connections);

    assert.deepEqual([before, connections.areSeveral], [false, true]);
  });
