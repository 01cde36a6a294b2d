import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError, codeOf, retryableOf } from "../../core/sdk/index.js";
import { collect, put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { openLogChannel } from "./opened-channel.js";

const cases = [
  { code: "LOG_DENIED", why: "credentials that have expired", again: true },
  { code: "LOG_SETTINGS", why: "a topic that an operator makes again", again: true },
  { code: "CERTIFICATE_UNREADABLE", why: "files of certificates that are being replaced", again: true },
  { code: "RECORD_TOO_LARGE", why: "a record that the log will never take", again: false },
] as const;

for (const { code, why, again } of cases)
  test(`what is put into an open log that refuses it for ${why} (${code}) ${again ? "may come again" : "does not come again"}, and the log goes on`, async (context) => {
    const folder = await tempFolder(context);
    let refuses = false;
    const engine = () => {
      const log = directoryLog({ folder, partitions: 1 });
      const append: typeof log.append = async (...record) => {
        if (refuses) throw new AgentError(code, "appending: refused", { retryable: false });
        return await log.append(...record);
      };
      return new Proxy(log, {
        get: (target, name) => {
          if (name === "append") return append;
          const member: unknown = Reflect.get(target, name);
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
    };
    const channel = await openLogChannel({ folder, engine });
    context.after(() => channel.stop(AbortSignal.abort()));

    await put(channel, 1);
    refuses = true;
    const error = await put(channel, 2).catch((refused: unknown) => refused);
    refuses = false;
    await put(channel, 3);

    assert.deepEqual([codeOf(error), retryableOf(error)], [code, again]);
    assert.deepEqual((await collect(channel, 2)).bodies, [1, 3]);
  });
