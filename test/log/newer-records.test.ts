import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, packedRecord } from "../../core/log/packed-record.js";
import { textCodecs } from "../../core/sdk/index.js";
import { collect } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { openLogChannel } from "./opened-channel.js";

test("a record of a later version holds up its own partition only, and the agent says so", async (context) => {
  const folder = await tempFolder(context);
  const channel = await openLogChannel({ folder, partitions: 3 });
  context.after(() => channel.stop(AbortSignal.timeout(1000)));
  const log = directoryLog({ folder, partitions: 3 });
  await log.open(new AbortController().signal);

  for (const part of [0, 1, 2]) {
    const event = { headers: {}, body: part };
    if (part === 0) await log.append(part, Buffer.from('{"deneb":99}'));
    await log.append(part, packedRecord([packed(event, textCodecs())], { at: 0, writer: `w${part}`, before: 0 }));
  }

  const { bodies } = await collect(channel, 2);
  assert.deepEqual(bodies.toSorted(), [1, 2]);
  const { unreachable } = await until(
    async () => channel.log?.() ?? assert.fail("the log is not open"),
    (sight) => sight.unreachable !== undefined,
  );
  assert.match(unreachable ?? "", /reading a record of version 99: this agent reads up to 2/);
  assert.equal(channel.parts?.()[0]?.waiting, 0);
});
