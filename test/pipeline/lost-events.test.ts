import assert from "node:assert/strict";
import { readdir, unlink } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { channelLedger } from "../../core/agent/state/ledger-snapshot.js";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { Ledger } from "../../core/pipeline/ledger.js";
import { waitingIn } from "../../core/pipeline/ledger-file.js";
import type { Channel } from "../../core/sdk/index.js";
import { drain, put } from "../../core/testing/channel-fixture.js";
import { channelIn, dataFolder } from "../plugins/file-channel/channel-folder.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

for (const when of ["before the start", "while the channel runs"] as const)
  test(`events whose file is removed ${when} are lost in the ledger, and nothing is unaccounted`, async (context) => {
    const folder = await tempFolder(context);
    const ledger = new Ledger(path.join(folder, "ledger.json"), recordingLog().log);
    const account = ledger.account("c1");
    const small = { maxFileSize: 100 };
    const first = new CountedChannel(channelIn(folder, small).channel, { account });
    await first.start();
    for (const body of [0, 2, 4]) await put(first, body, body + 1);
    await first.stop(AbortSignal.abort());
    const [, second = ""] = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log")).sort();
    const remove = () => unlink(path.join(dataFolder(folder), second));
    const next = new CountedChannel(channelIn(folder, small).channel, { account });

    if (when === "before the start") await remove();
    await next.start();
    if (when === "while the channel runs") await remove();
    const bodies = await drain(next, 10);

    assert.deepEqual(bodies, [0, 1, 4, 5]);
    assert.deepEqual([account.state.received, account.state.lost, account.state.uncounted], [6, 2, 0]);
    account.sink("s").settled({ stored: bodies.length, "dead-lettered": 0, filtered: 0 });
    assert.equal(waitingIn(account.state), 0);
    await next.stop(AbortSignal.abort());
    await ledger.stop();
  });

test("a channel that tells a text as its size cannot tell it, and the ledger draws no conclusion", async (context) => {
  const { channel } = channelIn(await tempFolder(context), {});
  Object.defineProperty(channel, "size", { get: () => "many" });

  const counted = new CountedChannel(channel);

  assert.deepEqual([counted.size, counted.isExact], [undefined, false]);
});

test("what a log that agents share finds missing is in the books when these are asked for, and stays there after the stop", async (context) => {
  const ledger = new Ledger(path.join(await tempFolder(context), "ledger.json"), recordingLog().log);
  const account = ledger.account("c1");
  const log = { lost: 0, isOpen: true };
  const shared: Channel = {
    durable: true,
    size: 0,
    sizeIs: "shared",
    transactionCapacity: 10,
    get lost() {
      return log.isOpen ? log.lost : 0;
    },
    log: () => undefined,
    openPut: () => assert.fail(),
    openTake: () => assert.fail(),
    start: async () => {},
    stop: async () => {
      log.isOpen = false;
    },
  };
  const channel = new CountedChannel(shared, { account });
  await channel.start();

  log.lost = 3;
  const asked = channelLedger("c1", channel, ledger).lost;
  log.lost = 5;
  await channel.stop(AbortSignal.abort());

  assert.deepEqual([asked, channelLedger("c1", channel, ledger).lost], [3, 5]);
  await ledger.stop();
});
