import assert from "node:assert/strict";
import { cp, rm } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { copyOfLive } from "../../../core/testing/copied-folder.js";
import { startAgent } from "../../support/agent-process.js";
import { command } from "../../support/command.js";
import { room, storingAgent } from "../../support/storing-agent.js";
import { until } from "../../support/until.js";

const cases = [
  { what: "a memory channel, without positions", lines: ["deneb.sinks.rdb-sink.exactly_once = false"] },
  { what: "a file channel", lines: ["deneb.channels.c.type = file"] },
] as const;

for (const { what, lines } of cases)
  test(`${what}: a letter that was committed before the process ended and not marked is stored once when it is replayed again`, async (context) => {
    const storing = await storingAgent(context, ...lines);
    if (storing === undefined) return;
    const { database, folder, post, ask, settled, agent } = storing;
    await database.query("CREATE SCHEMA svc");
    await database.query("CREATE TABLE svc.room (recvtime text, entityid text, entitytype text, value integer)");
    assert.equal(await post([room(1, "one"), room(2, "two")]), 200);
    await until(
      () => ask("GET", "/v1/admin/deadletters"),
      ({ count }) => count === 2,
    );
    const letters = path.join(folder, "data", "dead-letters");
    await copyOfLive(letters, path.join(folder, "unmarked"));
    await database.query("ALTER TABLE svc.room ALTER value TYPE text");
    const online = (url: string) => [
      "--management-host",
      new URL(url).hostname,
      "--management-port",
      new URL(url).port,
    ];
    const first = await command(["dead-letters", "replay", "--all", ...online(agent.managementUrl)]);
    await settled();
    await agent.end("SIGKILL");
    // As the files are when the process ends between the commit of the database and the mark.
    await rm(letters, { recursive: true });
    await cp(path.join(folder, "unmarked"), letters, { recursive: true });

    const again = await startAgent(context, { properties: storing.properties(), folder });
    const second = await command(["dead-letters", "replay", "--all", ...online(again.managementUrl)]);
    const ledger = async () => {
      const reply = await fetch(`${again.managementUrl}/v1/stats`);
      return JSON.parse(await reply.text()).stats.ledger.channels[0];
    };
    const books = await until(
      ledger,
      ({ waiting, unaccounted, filtered }) => waiting + unaccounted === 0 && filtered > 0,
    );
    const verified = await fetch(`${again.managementUrl}/v1/admin/verify`);
    const { verification } = JSON.parse(await verified.text());
    const left = await command(["dead-letters", "list", "--data-dir", path.join(folder, "data"), "--json"]);
    await again.end("SIGTERM");

    for (const { out } of [first, second]) assert.match(out, /^put into the channel again: 2\n/);
    const rows = await database.query("SELECT entityid FROM svc.room ORDER BY entityid");
    assert.deepEqual(rows, [{ entityid: "urn:room:1" }, { entityid: "urn:room:2" }]);
    assert.deepEqual(JSON.parse(left.out), []);
    assert.equal(books.filtered, 2);
    assert.deepEqual(verification.differences, []);
  });
