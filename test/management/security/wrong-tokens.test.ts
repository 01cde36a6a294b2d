import assert from "node:assert/strict";
import { test } from "node:test";
import { WrongTokens } from "../../../core/management/security/wrong-tokens.js";
import { latch } from "../../support/latch.js";
import { recordingLog } from "../../support/recording-log.js";
import { runningManagement } from "../../support/running-management.js";

const tokens = { read: ["reader", "reader-2"], admin: ["administrator"] };
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

test("wrong tokens are logged and counted without their text, and a valid one is answered", async (context) => {
  const { call, lines } = await runningManagement(context, { access: { tokens } });

  for (let n = 0; n < 3; n += 1) await call("GET", "/v1/stats", bearer("guess-work"));
  await call("GET", "/v1/stats");
  const right = await call("GET", "/v1/stats", bearer("reader"));
  const { text: metrics } = await call("GET", "/metrics", bearer("reader"));

  assert.equal(right.status, 200);
  assert.match(metrics, /^deneb_management_wrong_tokens_total 3$/m);
  const warned = lines.filter(({ message }) => message === "wrong management tokens").map(({ fields }) => fields);
  assert.deepEqual(warned, [
    { address: "127.0.0.1", tries: 1 },
    { address: "127.0.0.1", tries: 2 },
  ]);
  assert.doesNotMatch(JSON.stringify(lines), /guess-work/);
});

test("each wrong token of an address waits longer, others do not, and a network of IPv6 is one address", async () => {
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
  };
  let now = 0;
  const wrong = new WrongTokens({ log: recordingLog().log, count: () => {}, uptime: () => now, wait });
  const { signal } = new AbortController();

  for (let n = 0; n < 10; n += 1) await wrong.held("10.0.0.1", signal);
  const ofOne = waits.splice(0);
  await wrong.held("10.0.0.2", signal);
  for (let n = 0; n < 4; n += 1) await wrong.held(`2001:db8::1:${n}`, signal);
  await wrong.held("2001:db8:0:0:ffff::1", signal);
  const ofOthers = waits.splice(0);
  now = 16 * 60_000;
  await wrong.held("10.0.0.1", signal);

  assert.deepEqual(ofOne, [250, 500, 1000, 2000, 4000, 5000, 5000]);
  assert.deepEqual(ofOthers, [250, 500]);
  assert.deepEqual(waits, []);
});

test("no more than a hundred answers to wrong tokens are delayed at the same time", async () => {
  const { opened: held, open: end } = latch();
  const wrong = new WrongTokens({ log: recordingLog().log, count: () => {}, uptime: () => 0, wait: () => held });
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n += 1) await wrong.held("10.0.0.1", signal);

  const waiting = Array.from({ length: 100 }, () => wrong.held("10.0.0.1", signal));
  const beyond = await wrong.held("10.0.0.1", signal);
  end();

  assert.equal(beyond, false);
  assert.ok((await Promise.all(waiting)).every((answered) => answered));
});
