import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { startAgent } from "../support/agent-process.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import type { Turn } from "../support/walk-probe.js";
import { notification, post } from "./notification.js";

/** Files of ours with functions that run for one notification behind a file channel. */
const MOST_FILES = 109;
/** Walks until one is not disturbed. */
const MOST_WALKS = 20;

const properties = `
walk.sources = http-source
walk.channels = c
walk.sinks = k
walk.sources.http-source.type = http
walk.sources.http-source.bind = 127.0.0.1
walk.sources.http-source.port = 0
walk.sources.http-source.channels = c
walk.sources.http-source.handler = ngsi
walk.sources.http-source.interceptors = ts
walk.sources.http-source.interceptors.ts.type = timestamp
walk.channels.c.type = file
walk.sinks.k.type = rdb
walk.sinks.k.channel = c
walk.sinks.k.rdb_dialect = sqlite
`;

/** The files of each row of the table, as docs/architecture.md names them. */
function documentedWalk(): readonly (readonly string[])[] {
  const text = readFileSync(path.join(repositoryRoot, "docs/architecture.md"), "utf8");
  const [, section = ""] = text.split("## The walk of one notification");
  const [table = ""] = section.split("\n\n###");
  const rows = table.split("\n").filter((line) => /^\| \d/.test(line));
  return rows.map((row) => [...row.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = ""]) => file));
}

test("a notification takes the way of docs/architecture.md: through every file named there, in the order of the rows", async (context) => {
  const folder = await tempFolder(context);
  const output = path.join(folder, "walk.json");
  const rows = documentedWalk();
  const probe = pathToFileURL(path.join(repositoryRoot, "dist/test/support/walk-probe.js")).href;
  const env = {
    // With a folder for plugins of others an agent runs from the compiled modules, which this looks for, not from its bundle.
    DENEB_PLUGINS: await tempFolder(context),
    NODE_OPTIONS: `--import ${probe}`,
    DENEB_WALK_FILE: output,
    DENEB_WALK_END: "core/pipeline/channel-account.ts#settled",
  };
  const agent = await startAgent(context, { properties, folder, env });
  const stored = async (): Promise<unknown> => {
    const response = await fetch(`${agent.managementUrl}/v1/stats`);
    const reply: ReturnType<typeof JSON.parse> = await response.json();
    return reply.stats.ledger.channels[0].stored;
  };
  let sent = 0;
  const send = async () => {
    sent += 1;
    assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", sent)), 200);
  };
  const walk = async (): Promise<readonly Turn[]> => {
    await until(stored, (count) => count === sent);
    agent.process.kill("SIGUSR2");
    await until(async () => existsSync(`${output}.begun`), Boolean);
    await send();
    await until(async () => existsSync(output), Boolean);
    const turns: readonly Turn[] = JSON.parse(readFileSync(output, "utf8"));
    rmSync(output);
    rmSync(`${output}.begun`);
    return turns;
  };
  for (let warm = 0; warm < 3; warm += 1) {
    await send();
    await until(stored, (count) => count === sent);
  }

  let always: ReadonlySet<string> | undefined;
  await judged(walk, (turns) => {
    const touched = filesIn(turns);
    // What a timer runs beside is not in every walk.
    always = new Set([...touched].filter((file) => always?.has(file) ?? true));
    const completed = rows.map((files) => Math.max(...files.map((file) => turns.findIndex((turn) => file in turn))));
    assert.deepEqual(
      rows.flat().filter((file) => !touched.has(file)),
      [],
      "named in the table, and no function of it ran",
    );
    assert.deepEqual(completed, [...completed].sort(ascending), "the turns in which every file of a row had run");
    assert.ok(new Set(completed).size > 2, `the walk takes several turns of the event loop: ${completed.join(" ")}`);
    // How V8 keeps the heap is looked at whenever it collects.
    const own = [...always].filter((file) => !file.startsWith("core/entry/")).sort();
    assert.ok(own.length <= MOST_FILES, `${own.length} files: ${own.join(" ")}`);
  });
});

test("the table of the walk names 25 to 35 files", () => {
  const named = documentedWalk().flat();

  assert.ok(named.length >= 25 && named.length <= 35, `${named.length} files are named`);
});

/** A timer of the agent, and its look at the collections of its memory, may run during a walk: one that neither disturbs is judged. */
async function judged(walk: () => Promise<readonly Turn[]>, judge: (turns: readonly Turn[]) => void): Promise<void> {
  for (let again = 1; again < MOST_WALKS; again += 1) {
    try {
      return judge(await walk());
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
    }
  }
  judge(await walk());
}

function filesIn(turns: readonly Turn[]): ReadonlySet<string> {
  return new Set(turns.flatMap((turn) => Object.keys(turn)));
}

function ascending(one: number, other: number): number {
  return one - other;
}
