import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PartitionedLog } from "../../core/log/index.js";
import { AgentError, codeOf } from "../../core/sdk/index.js";
import { collect, put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { warningsDuring } from "../support/warnings.js";
import { openLogChannel } from "./opened-channel.js";

type Append = PartitionedLog["append"];

test("a record of which the log does not say whether it is there is appended again, as it was and under its name", async (context) => {
  const tries: string[] = [];
  const { channel } = await channelOver(context, async (append, part, value, name) => {
    if (part !== 0) return await append(part, value);
    tries.push(`${name} ${Buffer.from(value)}`);
    if (tries.length < 3) throw unanswered();
    return await append(part, value);
  });

  await put(channel, 1);
  const [first, ...others] = new Set(tries);
  await put(channel, 2);

  assert.deepEqual(others, []);
  assert.notEqual(tries[3]?.split(" ")[0], first?.split(" ")[0]);
  assert.deepEqual((await collect(channel, 2)).bodies, [1, 2]);
});

test("with outcome_timeout 0 such a record is refused at once", async (context) => {
  let isAway = true;
  const { channel } = await channelOver(
    context,
    async (append, part, value) => {
      if (part === 0 && isAway) throw unanswered();
      return await append(part, value);
    },
    { outcome_timeout: 0 },
  );

  const refused = await put(channel, 1).catch(codeOf);
  isAway = false;
  await put(channel, 2);

  assert.equal(refused, "LOG_UNANSWERED");
  assert.deepEqual((await collect(channel, 1)).bodies, [2]);
});

test("what is put behind a record that may be there, and was refused when it was appended again, is no repetition of it", async (context) => {
  let tries = 0;
  const { channel } = await channelOver(context, async (append, part, value) => {
    if (part !== 0) return await append(part, value);
    tries += 1;
    if (tries === 2) throw Object.assign(unavailable(), { appended: false });
    const place = await append(part, value);
    if (tries === 1) throw unanswered();
    return place;
  });

  const refused = await put(channel, 1).catch(codeOf);
  await put(channel, 2);

  assert.equal(refused, "LOG_UNAVAILABLE");
  assert.deepEqual((await collect(channel, 2)).bodies, [1, 2]);
});

test("when some of what is put together is in the log, the rest is appended as soon as the log takes it", async (context) => {
  let refusals = 0;
  let refused: number | undefined;
  let appended = () => {};
  const another = new Promise<void>((resolve) => {
    appended = resolve;
  });
  const { channel } = await channelOver(context, async (append, part, value) => {
    if (typeof part !== "number") return await append(part, value);
    refused ??= part;
    if (part === refused && refusals < 2) {
      await another;
      refusals += 1;
      throw unavailable();
    }
    const place = await append(part, value);
    setImmediate(appended);
    return place;
  });

  await putRooms(channel, 20);

  assert.equal(refusals, 2);
  assert.equal((await collect(channel, 20)).bodies.length, 20);
});

test("nothing of what is put together is in the log when a part of it waits behind a record that the log does not answer", async (context) => {
  let isAway = true;
  let begun = () => {};
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { channel } = await channelOver(context, async (append, part, value) => {
    if (typeof part !== "number" || !isAway) return await append(part, value);
    begun();
    throw unanswered();
  });

  const first = putRooms(channel, 20);
  await beginning;
  const refused = await putRooms(channel, 20).catch((error: unknown) => error);
  isAway = false;
  await first;

  assert.equal(codeOf(refused), "LOG_UNAVAILABLE");
  assert.match(String(refused), /waiting for what was put before: appending: no answer/);
  await putRooms(channel, 1);
  assert.equal((await collect(channel, 21)).bodies.length, 21);
});

test("a put that the log does not answer ends with the grace period of a stop", async (context) => {
  let begun = () => {};
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { channel } = await channelOver(context, async (append, part, value) => {
    if (part !== 0) return await append(part, value);
    begun();
    throw unanswered();
  });
  const grace = new AbortController();

  const putting = put(channel, 1).catch(codeOf);
  await beginning;
  const stopping = channel.stop(grace.signal);
  grace.abort();
  await stopping;

  assert.equal(await putting, "LOG_UNANSWERED");
});

test("many partitions may wait for a log that does not answer", async (context) => {
  let tries = 0;
  const appends: Appends = async (append, part, value) => {
    if (typeof part === "number" && ++tries <= 40) throw unanswered();
    return await append(part, value);
  };
  const { channel } = await channelOver(context, appends, {}, 40);

  assert.deepEqual(await warningsDuring(() => putRooms(channel, 400)), []);
});

type Appends = (append: Append, ...record: Parameters<Append>) => ReturnType<Append>;

/** A channel over a log that appends like this. */
async function channelOver(
  context: TestContext,
  appends: Appends,
  config: { readonly outcome_timeout?: number } = {},
  partitions = 4,
) {
  const folder = await tempFolder(context);
  const engine = () => {
    const log = directoryLog({ folder, partitions });
    const own: Append = (...record) => log.append(...record);
    return new Proxy(log, {
      get: (target, name) => {
        if (name === "append") return (...record: Parameters<Append>) => appends(own, ...record);
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
  const channel = await openLogChannel({ folder, engine, partitions, config });
  context.after(() => channel.stop(AbortSignal.abort()));
  return { channel };
}

/** Events of different entities, which go to different parts. */
async function putRooms(channel: Awaited<ReturnType<typeof channelOver>>["channel"], count: number): Promise<void> {
  const transaction = channel.openPut();
  for (let room = 0; room < count; room += 1)
    transaction.put({ headers: { "fiware-service": "s" }, body: { id: `urn:room:${room}`, type: "Room" } });
  await transaction.commit();
}

function unanswered(): AgentError {
  return new AgentError("LOG_UNANSWERED", "appending: no answer", { retryable: true });
}

function unavailable(): AgentError {
  return new AgentError("LOG_UNAVAILABLE", "appending: no leader", { retryable: true });
}
