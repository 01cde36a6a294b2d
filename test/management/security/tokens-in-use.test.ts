import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { followTokens, readSecurity } from "../../../core/management/security/read-security.js";
import { eventStream } from "../../support/event-stream.js";
import { recordingLog } from "../../support/recording-log.js";
import { runningManagement } from "../../support/running-management.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

test("a token of a replaced file is taken and the former one is not; a file that is empty or gone changes nothing", async (context) => {
  const file = join(await tempFolder(context), "tokens");
  const { log, lines } = recordingLog();
  await writeFile(file, "first\n");
  const settings = { ...none, managementAdminTokensFile: file };
  const security = readSecurity(settings, (path) => readFileSync(path, "utf8"));
  const { call } = await runningManagement(context, { access: { tokens: security.tokens } });
  context.after(followTokens(security, settings, { log, lookMillis: 5 }));
  const statusWith = async (token: string) =>
    (await call("PUT", "/v1/stats", { headers: { Authorization: `Bearer ${token}` } })).status;
  const logged = (message: string) =>
    until(
      async () => lines.map((line) => line.message),
      (messages) => messages.includes(message),
    );

  await rm(file);
  await logged("the tokens that were read before stay in use");
  assert.equal(await statusWith("first"), 200);
  await writeFile(file, "");
  await until(
    async () => lines.map(({ fields }) => JSON.stringify(fields)).join(),
    (reasons) => reasons.includes("which is empty"),
  );
  assert.equal(await statusWith("first"), 200);
  await writeFile(file, "second\nthird\n");
  await logged("the files of tokens can be read again");

  assert.deepEqual([await statusWith("first"), await statusWith("second"), await statusWith("third")], [401, 200, 200]);
});

test("a stream ends when its token is replaced, and that of another token goes on", async (context) => {
  const file = join(await tempFolder(context), "tokens");
  const { log } = recordingLog();
  await writeFile(file, "stolen\nkept\n");
  const settings = { ...none, managementReadTokensFile: file };
  const security = readSecurity(settings, (path) => readFileSync(path, "utf8"));
  const { port, stream } = await runningManagement(context, { access: { tokens: security.tokens } });
  context.after(followTokens(security, settings, { log, lookMillis: 5 }));
  const streamWith = (token: string) =>
    eventStream(context, `http://127.0.0.1:${port}/v1/stream`, { Authorization: `Bearer ${token}` });
  const stolen = await streamWith("stolen");
  const kept = await streamWith("kept");
  await Promise.all([stolen.nextNamed("snapshot"), kept.nextNamed("snapshot")]);

  await writeFile(file, "kept\n");
  await until(
    async () => {
      stream.tick();
      return stream.listeners;
    },
    (listeners) => listeners === 1,
  );

  await assert.rejects(stolen.nextNamed("end"), /the stream ended/);
});

const none = {
  managementReadTokens: [],
  managementReadTokensFile: "",
  managementAdminTokens: [],
  managementAdminTokensFile: "",
  managementTlsKey: "",
  managementTlsCertificate: "",
  managementTlsClientCa: "",
  brokerTargets: [],
};
