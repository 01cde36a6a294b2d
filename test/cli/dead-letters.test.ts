import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { DEAD_LETTERS } from "../../core/agent/container.js";
import { outcomeOf } from "../../core/cli/dead-letters.js";
import type { DeadLetter } from "../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError } from "../../core/sdk/index.js";
import { selfSigned } from "../support/certificates.js";
import { command } from "../support/command.js";
import { runningManagement } from "../support/running-management.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { until } from "../support/until.js";

const letter = (id: string): DeadLetter => ({
  id,
  time: "2026-01-15T10:00:00.000Z",
  sink: "k1",
  reason: "permanent",
  message: "storing",
  attempts: 1,
  event: { headers: { "fiware-service": "openiot" }, body: { id: `Room:${id}`, type: "Room" } },
});

/** An agent that asks for certificates and tokens, and files with what its clients need. */
async function guarded(context: TestContext) {
  const server = selfSigned("localhost");
  const client = selfSigned("client");
  const { container, port, dataDir, lines } = await runningManagement(context, {
    tls: { ...server, ca: client.cert },
    access: { tokens: { read: ["reader"], admin: ["administrator"] } },
  });
  const letters = container.resolve(DEAD_LETTERS);
  await letters.keep([letter("a"), letter("b")]);
  const file = async (name: string, text: string) => {
    const at = path.join(dataDir, name);
    await writeFile(at, text);
    return at;
  };
  return {
    letters,
    lines,
    place: ["--management-host", "localhost", "--management-port", String(port)],
    ca: ["--ca-file", await file("ca.pem", server.cert)],
    own: [
      ...["--client-cert", await file("client.pem", client.cert)],
      ...["--client-key", await file("client.key", client.key)],
    ],
    tokenFile: async (token: string) => ["--token-file", await file("token", `${token}\n`)],
  };
}

test("dead letters are listed, replayed and dropped at an agent with TLS, client certificates and tokens", async (context) => {
  const { letters, place, ca, own, tokenFile, lines } = await guarded(context);
  const flags = [...place, ...ca, ...own, ...(await tokenFile("administrator"))];

  const list = await command(["dead-letters", "list", ...flags]);
  const shown = await command(["dead-letters", "show", "a", ...flags]);
  const dry = await command(["dead-letters", "replay", "--service", "openiot", "--dry-run", ...flags]);
  const replayed = await command(["dead-letters", "replay", "a", "--json", ...flags]);
  const dropped = await command(["dead-letters", "drop", "--entity", "Room:b", ...flags]);
  const again = await command(["dead-letters", "drop", "b", "--json", ...flags]);
  await until(
    async () => letters.counts()[0],
    (counts) => counts?.replaying === 0,
  );

  assert.match(list.out, /^id +time +sink +state +reason +service +entity +type +message\n/);
  assert.match(list.out, /\na .* k1 +waiting +permanent +openiot +Room:a +Room +storing\nb /);
  assert.deepEqual(JSON.parse(shown.out).event, letter("a").event);
  assert.equal(dry.out, "dry run, nothing is changed: would be put into the channel again: 2");
  assert.deepEqual(JSON.parse(replayed.out), { success: "true", replayed: 1, underway: 0, refused: 0 });
  assert.equal(dropped.out, "dropped: 1");
  assert.deepEqual([again.exitCode, JSON.parse(again.out).success], [1, "false"]);
  assert.match(again.err, /dead letter b not found/);
  assert.doesNotMatch(JSON.stringify(lines), /administrator/);
});

test("the replay of one dead letter says what came of it: stored, failed again, or not known yet", async (context) => {
  const sink = new ScriptedSink();
  const stored = sink.persist.bind(sink);
  const store = { refuses: true, hangs: false };
  let goOn = () => {};
  sink.persist = async (batch) => {
    if (store.refuses) throw new AgentError("REFUSED", "storing a value", { retryable: false });
    if (store.hangs) await new Promise<void>((resolve) => (goOn = resolve));
    return await stored(batch);
  };
  const { container, port } = await runningManagement(context, { sink });
  const letters = container.resolve(DEAD_LETTERS);
  await letters.keep([letter("a"), letter("b"), letter("c")]);
  const address = { host: "127.0.0.1", port, token: undefined, tls: undefined };
  const replay = async (...which: readonly string[]) =>
    (await command(["dead-letters", "replay", ...which, "--management-port", String(port)])).out;

  const again = await replay("a");
  store.refuses = false;
  const now = await replay("a");
  store.hangs = true;
  const all = await replay("--all");
  const pending = await outcomeOf("b", address, 0);
  goOn();

  const sent = "put into the channel again: 1";
  assert.equal(again, `${sent}\nfailed again: storing a value`);
  assert.equal(now, `${sent}\nstored`);
  assert.match(all, /^put into the channel again: 2\nwhat fails again waits again: see deneb dead-letters list$/);
  assert.equal(pending, "still on its way: see deneb dead-letters show b");
});

test("a replay of a data directory says that the running agent does it", async () => {
  const { exitCode, err } = await command(["dead-letters", "replay", "--all", "--data-dir", "data"]);

  assert.equal(exitCode, 2);
  assert.match(
    err,
    /--data-dir "data" is for list and show; .*: give its address with --management-host and --management-port$/,
  );
});

test("the options that a command lacks to reach the agent are named", async (context) => {
  const { place, ca, own, tokenFile } = await guarded(context);
  const list = async (...flags: readonly string[]) => {
    const { exitCode, err } = await command(["dead-letters", "replay", "a", ...place, ...flags]);
    return `${exitCode} ${err}`;
  };

  assert.match(await list(), /^1 .*if it uses HTTPS, give --tls or --ca-file/);
  assert.match(await list("--tls", ...own), /^1 .*give the CA of its certificate with --ca-file/);
  assert.match(await list(...ca), /^1 .*give --client-cert and --client-key/);
  assert.match(await list(...ca, ...own), /^1 .*give a token with --token-file or DENEB_MANAGEMENT_TOKEN/);
  assert.match(await list(...ca, ...own, ...(await tokenFile("reader"))), /^1 .*give an admin token with/);
  assert.match(await list(...ca, ...own, ...(await tokenFile("wrong"))), /^1 .*valid bearer token is required/);
});

test("a token and certificates may come from the environment, that of the agent included", async (context) => {
  const { place, ca, own, tokenFile } = await guarded(context);
  const [, caFile = ""] = ca;
  const [, cert = "", , key = ""] = own;
  const [, file = ""] = await tokenFile("administrator");
  const tls = {
    DENEB_MANAGEMENT_CA_FILE: caFile,
    DENEB_MANAGEMENT_CLIENT_CERT: cert,
    DENEB_MANAGEMENT_CLIENT_KEY: key,
  };

  const environments = [
    { ...tls, DENEB_MANAGEMENT_TOKEN: "administrator" },
    { ...tls, DENEB_MANAGEMENT_TOKEN_FILE: file },
    { ...tls, DENEB_MANAGEMENT_ADMIN_TOKENS: "administrator other" },
    { ...tls, DENEB_MANAGEMENT_ADMIN_TOKENS_FILE: file },
  ];

  for (const env of environments) {
    const { exitCode, err } = await command(["dead-letters", "show", "a", ...place], env);
    assert.deepEqual([exitCode, err], [0, ""]);
  }
});

test("dead letters whose names hold control characters are shown with escapes, as text and as JSON", async (context) => {
  const { container, port } = await runningManagement(context);
  const id = "Room\u009b2J\u202e\u2066\u2028\u001b[2J";
  await container.resolve(DEAD_LETTERS).keep([{ ...letter("a"), event: { headers: {}, body: { id } } }]);
  const place = ["--management-port", String(port)];

  const text = await command(["dead-letters", "list", ...place]);
  const json = await command(["dead-letters", "show", "a", ...place]);

  assert.match(text.out, /Room\\u009b2J\\u202e\\u2066\\u2028\\u001b\[2J/);
  for (const { out } of [text, json]) assert.doesNotMatch(out, /[^\P{Cc}\n]|[\u202e\u2066\u2028]/u);
  assert.equal(JSON.parse(json.out).event.body.id, id);
});
