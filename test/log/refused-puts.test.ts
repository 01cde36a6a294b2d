import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartitionedLog } from "../../core/log/index.js";
import { AgentError, type Channel, codeOf, retryableOf } from "../../core/sdk/index.js";
import { collect, put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { openLogChannel } from "./opened-channel.js";

const cases = [
  { code: "LOG_DENIED", why: "credentials that have expired", again: true, answered: "LOG_DENIED" },
  { code: "LOG_SETTINGS", why: "a topic that an operator makes again", again: true, answered: "LOG_SETTINGS" },
  {
    code: "CERTIFICATE_UNREADABLE",
    why: "files of certificates that are being replaced",
    again: true,
    answered: "CERTIFICATE_UNREADABLE",
  },
  {
    code: "RECORD_TOO_LARGE",
    why: "a record that the log will never take",
    again: false,
    answered: "NOTIFICATION_TOO_LARGE",
  },
] as const;

for (const { code, why, again, answered } of cases)
  test(`what is put into an open log that refuses it for ${why} (${code}) ${again ? "may come again" : "does not come again"}, and the log goes on`, async (context) => {
    const folder = await tempFolder(context);
    let refuses = false;
    const engine = refusing(folder, () => (refuses ? code : undefined));
    const channel = await openLogChannel({ folder, engine });
    context.after(() => channel.stop(AbortSignal.abort()));

    await put(channel, 1);
    refuses = true;
    const error = await put(channel, 2).catch((refused: unknown) => refused);
    refuses = false;
    await put(channel, 3);

    assert.deepEqual([codeOf(error), retryableOf(error)], [answered, again]);
    assert.deepEqual((await collect(channel, 2)).bodies, [1, 3]);
  });

test("what was packed into one record that the log does not take is put in smaller ones, and only what alone is too large is refused", async (context) => {
  const folder = await tempFolder(context);
  const most = 2000;
  const engine = refusing(folder, ({ byteLength }) => (byteLength > most ? "RECORD_TOO_LARGE" : undefined));
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  const large = "x".repeat(2 * most);

  const outcomes = await Promise.allSettled([...numbers, large, 100].map((body) => putBody(channel, body)));

  const refused = outcomes.flatMap((outcome, at) =>
    outcome.status === "rejected" ? [[at, codeOf(outcome.reason)]] : [],
  );
  assert.deepEqual(refused, [[numbers.length, "NOTIFICATION_TOO_LARGE"]]);
  assert.deepEqual((await collect(channel, numbers.length + 1)).bodies, [...numbers, 100]);
});

async function putBody(channel: Channel, body: number | string): Promise<void> {
  const transaction = channel.openPut();
  transaction.put({ headers: {}, body });
  await transaction.commit();
}

/** A log that refuses records with the code that is given for them. */
function refusing(folder: string, codeFor: (value: Uint8Array) => string | undefined): () => PartitionedLog {
  return () => {
    const log = directoryLog({ folder, partitions: 1 });
    const append: typeof log.append = async (part, value) => {
      const code = part === 0 ? codeFor(value) : undefined;
      if (code !== undefined) throw new AgentError(code, "appending: refused", { retryable: false });
      return await log.append(part, value);
    };
    return new Proxy(log, {
      get: (target, name) => {
        if (name === "append") return append;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
}
