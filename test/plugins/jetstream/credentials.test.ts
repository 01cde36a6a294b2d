import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { type AgentError, codeOf } from "../../../core/sdk/index.js";
import { rejects } from "../../../core/testing/log/log-case.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { logOf, never, ownNats } from "./nats.js";
import { natsOperator, type Operator } from "./operator.js";

interface Secured {
  readonly operator: Operator;
  readonly server: string;
  /** Where the file of the property is. */
  readonly file: string;
}

async function secured(context: TestContext): Promise<Secured | undefined> {
  const operator = natsOperator();
  const server = await ownNats(context, { lines: operator.lines });
  if (server === undefined) return undefined;
  return { operator, server: server.url, file: path.join(await tempFolder(context), "deneb.creds") };
}

test("a user with a credentials file opens the log, appends and reads", async (context) => {
  const setting = await secured(context);
  if (setting === undefined) return;
  const { operator, server, file } = setting;
  await writeFile(file, operator.credentials());
  const log = logOf(context, { servers: [server], credentials_file: file });

  await log.open(never());
  await log.append(0, Buffer.from("a"));
  const records = await log.read(new Map([[0, 0]]), { bytes: 1000, waitMillis: 10_000 }, never());

  assert.equal(Buffer.from(records.get(0)?.[0]?.value ?? []).toString(), "a");
});

test("credentials of another operator, or expired ones, are refused by the server and named without secrets", async (context) => {
  const setting = await secured(context);
  if (setting === undefined) return;
  const { operator, server, file } = setting;

  for (const text of [natsOperator().credentials(), operator.credentials(1)]) {
    await writeFile(file, text);
    const opening = logOf(context, { servers: [server], credentials_file: file }).open(never());

    await rejects(opening, "LOG_DENIED", false);
    await assert.rejects(opening, ({ message }: AgentError) => {
      assert.match(message, /refuses the credentials; check username, password, token and credentials_file/);
      for (const secret of text.split("\n").filter((line) => line !== "" && !line.startsWith("-")))
        assert.ok(!message.includes(secret));
      return true;
    });
  }
});

for (const [title, textOf] of [
  ["a bare line", (seed: string, key: string) => `${seed}\r\n${key}\r\n`],
  [
    "the lines of nsc around it",
    (seed: string) => `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ],
] as const)
  test(`a user that has an nkey alone is let in by its seed in ${title}, and by no other`, async (context) => {
    const [user, other] = [nkeys.createUser(), nkeys.createUser()];
    const server = await ownNats(context, { lines: [`authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`] });
    if (server === undefined) return;
    const file = path.join(await tempFolder(context), "deneb.nk");
    const log = logOf(context, { servers: [server.url], credentials_file: file });
    const seedOf = (pair: typeof user) => Buffer.from(pair.getSeed()).toString();

    await writeFile(file, textOf(seedOf(other), other.getPublicKey()));
    await assert.rejects(log.open(never()), ({ code, message }: AgentError) => {
      assert.equal(code, "LOG_DENIED");
      assert.match(message, /refuses the credentials/);
      return !message.includes(seedOf(other));
    });
    await writeFile(file, textOf(seedOf(user), user.getPublicKey()));
    await log.open(never());

    assert.equal((await log.append(0, Buffer.from("a"))).previous, -1);
  });

for (const [title, text] of [
  ["no credentials", "hello"],
  ["a public key", nkeys.createUser().getPublicKey()],
  ["a lone seed that is none", "SUxxxxxxxx\n"],
  ["a token without its seed", natsOperator().credentials().split("-----BEGIN USER")[0] ?? ""],
  [
    "a seed that is none",
    natsOperator()
      .credentials()
      .replace(/\nS\w+\n/, "\nSUxxxxxxxx\n"),
  ],
] as const)
  test(`a file with ${title} is refused with the property that names it`, async (context) => {
    const setting = await secured(context);
    if (setting === undefined) return;
    const { server, file } = setting;
    await writeFile(file, text);

    const opening = logOf(context, { servers: [server], credentials_file: file }).open(never());

    await rejects(opening, "LOG_DENIED", false);
    await assert.rejects(opening, /its property "credentials_file": it.* seed.*; write it with nsc generate creds/);
  });

test("when credentials expire, the ones that replace them in the file are used", async (context) => {
  const setting = await secured(context);
  if (setting === undefined) return;
  const { operator, file } = setting;
  const log = await openedOnce(context, setting);

  const append = () => log.append(0, Buffer.from("b")).then(() => undefined, codeOf);
  await until(append, (code) => code === "LOG_DENIED");
  await writeFile(file, operator.credentials());

  await until(append, (code) => code === undefined);
});

/** A log with credentials that expire soon, but after it was opened and has a record: they last longer until that succeeds. */
async function openedOnce(context: TestContext, { operator, server, file }: Secured) {
  for (let seconds = 1; ; seconds *= 2) {
    await writeFile(file, operator.credentials(Math.ceil(Date.now() / 1000) + seconds));
    const log = logOf(context, { servers: [server], credentials_file: file });
    const denied = await log
      .open(never())
      .then(() => log.append(0, Buffer.from("a")))
      .then(() => undefined, codeOf);
    if (denied === undefined) return log;
    assert.ok(seconds < 20, `credentials of ${seconds} s are of no use: ${denied}`);
  }
}
