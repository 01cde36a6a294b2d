import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { smallDisk } from "../crash/small-disk.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { freePort } from "../support/free-port.js";
import { httpAgent } from "../support/http-agent.js";
import { type Alert, type OwnPrometheus, ownPrometheus } from "../support/prometheus-programs.js";
import { teamOf } from "../support/team.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { notify } from "./agent-with-everything.js";
import { rulesFile } from "./alert-rules.js";
import { faultyAgent, READ_TOKEN } from "./faulty-agent.js";

/** The rules with times to wait that suit scrapes each second; `alerts.test.ts` looks at the times themselves. */
async function quickRules(context: TestContext): Promise<string> {
  const file = join(await tempFolder(context), "rules.yml");
  await writeFile(file, (await readFile(rulesFile, "utf8")).replaceAll(/^( +for:) \d+s$/gm, "$1 1s"));
  return file;
}

interface Expected {
  readonly what: string;
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The number of events that the sink `refusing` gets, each seen by Prometheus before the next; or more until the alert fires. */
  readonly refused?: number | "until-it-fires";
}

const faults: readonly Expected[] = [
  {
    what: "a database where nobody listens",
    alert: "DenebStoreFailing",
    labels: { sink: "database", code: "STORE_UNAVAILABLE", cause: "ECONNREFUSED" },
  },
  { what: "a store that is away", alert: "DenebStoreFailing", labels: { sink: "away" } },
  {
    what: "events that the store refuses",
    alert: "DenebDeadLettersGrowing",
    labels: { sink: "refusing", reason: "permanent" },
    refused: 2,
  },
  {
    what: "a sink whose events all become dead letters",
    alert: "DenebComponentDown",
    labels: { name: "refusing", cause: "dead-letters" },
    refused: "until-it-fires",
  },
  {
    what: "dead letters near their limit",
    alert: "DenebDeadLettersNearLimit",
    labels: { sink: "refusing" },
    refused: "until-it-fires",
  },
  {
    what: "dead letters at their limit",
    alert: "DenebDeadLettersFull",
    labels: { name: "refusing" },
    refused: "until-it-fires",
  },
  { what: "a wrong token at a source", alert: "DenebTokenRefused", labels: { source: "token" } },
  {
    what: "what is no notification",
    alert: "DenebNotificationsInvalid",
    labels: { source: "http-source", cause: "content" },
  },
  {
    what: "a tenant above its quota",
    alert: "DenebQuotaExceeded",
    labels: { source: "limited", cause: "quota" },
  },
  { what: "a channel that is full", alert: "DenebChannelFull", labels: { channel: "small" } },
  {
    what: "notifications that find no room",
    alert: "DenebNotificationsRejected",
    labels: { source: "full", status: "503", cause: "channel-full" },
  },
  { what: "a channel that takes nothing for a while", alert: "DenebPutsRefused", labels: { name: "small" } },
  { what: "a service without a channel", alert: "DenebEventsUnrouted", labels: { source: "routed" } },
  { what: "an expired certificate", alert: "DenebCertificateExpired", labels: { component: "expired" } },
  { what: "a certificate that expires soon", alert: "DenebCertificateExpiring", labels: { component: "expiring" } },
  {
    what: "an error that a plugin does not catch",
    alert: "DenebStrayErrors",
    labels: { plugin: "noisy", component: "noisy" },
  },
  {
    what: "a plugin that reports a problem",
    alert: "DenebComponentDegraded",
    labels: { name: "noisy", cause: "reported" },
  },
  {
    what: "a source that does not start",
    alert: "DenebComponentDown",
    labels: { name: "hanging", cause: "not-started" },
  },
  { what: "wrong tokens at the management interface", alert: "DenebManagementTokensWrong", labels: {} },
  { what: "a store that does not answer", alert: "DenebStoreNotAnswering", labels: { sink: "mute" } },
];

test("what is broken on purpose in a running agent shows in an alert", async (context) => {
  const agent = await faultyAgent(context);
  const jobs = { faulty: { target: new URL(agent.managementUrl).host, token: READ_TOKEN } };
  const prometheus = await ownPrometheus(context, { rules: await quickRules(context), jobs });
  if (prometheus === undefined) return;

  for (const { what, alert, labels, refused = 0 } of faults)
    await context.test(`${what}: ${alert}`, async () => {
      // Prometheus may be late: it sees each event alone, and the dead letters are full only once that is wanted.
      for (let count = 1; typeof refused === "number" && count <= refused; count += 1) {
        await agent.refuseOne();
        await isKept(prometheus, count);
      }
      const meanwhile = refused === "until-it-fires" ? agent.refuseOne : undefined;
      const { annotations } = await firing(prometheus, alert, labels, meanwhile);

      const texts = Object.values(annotations).join("\n");
      assert.doesNotMatch(texts, /no value|error expanding|\{\{/);
      for (const value of Object.values(labels)) {
        if (!["channel-full", "503", "reported"].includes(value))
          assert.ok(texts.includes(value), `${value}: ${texts}`);
      }
    });

  await context.test("an agent that is killed: DenebDown", async () => {
    await agent.end("SIGKILL");

    await firing(prometheus, "DenebDown", { job: "faulty" });
  });
});

test("nothing fires for an agent that works; a properties file that is broken, deleted, or cannot be put into effect shows in an alert", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: small(), folder, flags: ["--reload-interval", "1"] });
  const jobs = { changing: { target: new URL(agent.managementUrl).host } };
  const prometheus = await ownPrometheus(context, { rules: await quickRules(context), jobs });
  if (prometheus === undefined) return;
  const file = join(folder, "agent.properties");
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  context.after(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  await notify(agent);
  await until(
    () => prometheus.query('deneb_sink_writes_total{service="openiot",result="stored"} == 1'),
    ({ length }) => length === 1,
  );
  const alerts = await until(
    () => prometheus.alerts(),
    // Before the first scrape there was no agent.
    (all) => !all.some(({ labels }) => labels["alertname"] === "DenebAbsent"),
  );
  assert.deepEqual(alerts, []);
  await writeFile(file, small().replace("type = http", "type = htpp"));
  await firing(prometheus, "DenebConfigurationFileBroken", { state: "faulty" });
  await rm(file);
  await firing(prometheus, "DenebConfigurationFileBroken", { state: "missing" });
  await writeFile(file, small().replace("port = 0", `port = ${port}`));
  await firing(prometheus, "DenebReloadFailed", {});
  await writeFile(file, small());

  const after = await until(
    () => firingNames(prometheus),
    (names) => !names.includes("DenebReloadFailed") && !names.includes("DenebConfigurationFileBroken"),
  );
  assert.deepEqual(after, []);
});

test("a worker that cannot start again shows in an alert, and the others go on", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: small("away"), folder, flags: ["--workers", "2"] });
  const jobs = { team: { target: new URL(agent.managementUrl).host } };
  const prometheus = await ownPrometheus(context, { rules: await quickRules(context), jobs });
  if (prometheus === undefined) return;
  const [, second] = (await teamOf(agent)).workers;

  await writeFile(join(folder, "agent.properties"), small("away").replace("type = http", "type = htpp"));
  process.kill(second?.pid ?? 0, "SIGKILL");

  const { annotations } = await firing(prometheus, "DenebWorkerDown", { job: "team" });
  assert.match(annotations["description"] ?? "", /^1 of the workers/);
  await notify(agent);
});

const MOST_STARTS = 10;

test("events that are lost from a channel on disk, and an agent that is started again and again, show in alerts", async (context) => {
  const folder = await tempFolder(context);
  const managementPort = await freePort("127.0.0.1");
  const flags = ["--management-port", String(managementPort)];
  const start = () => startAgent(context, { properties: small("away"), folder, flags });
  let agent: AgentProcess = await start();
  const jobs = { losing: { target: `127.0.0.1:${managementPort}` } };
  const prometheus = await ownPrometheus(context, { rules: await quickRules(context), jobs });
  if (prometheus === undefined) return;
  const isScraped = (waiting: number) =>
    until(
      () => prometheus.query("deneb_channel_events"),
      ([sample]) => sample?.value[1] === String(waiting),
    );
  const changes = async () => {
    const [sample] = await prometheus.query("changes(process_start_time_seconds[15m])");
    return Number(sample?.value[1] ?? 0);
  };
  await notify(agent);
  await isScraped(1);
  await agent.end("SIGTERM");
  await rm(join(folder, "data", "channels", "c", "data"), { recursive: true });
  agent = await start();

  await firing(prometheus, "DenebEventsLost", { channel: "c" });
  // The time of a start has whole seconds: starts within one second are one to Prometheus, and so are those between two scrapes.
  for (let starts = 0; starts < MOST_STARTS && (await changes()) <= 2; starts += 1) {
    await agent.end("SIGKILL");
    agent = await start();
    const startedAt = Date.now() / 1000;
    await until(
      () => prometheus.query("timestamp(process_start_time_seconds)"),
      ([sample]) => Number(sample?.value[1]) > startedAt,
    );
  }
  await firing(prometheus, "DenebRestarting", { job: "losing" });
});

test("a disk of a channel that is full shows in alerts", async (context) => {
  const disk = await smallDisk();
  if (disk === undefined) return context.skip("needs the right to mount a file system");
  context.after(() => disk.remove());
  const agent = await startAgent(context, {
    properties: `${small()}a.channels.c.checkpointDir = ${disk.folder}/checkpoint\na.channels.c.dataDirs = ${disk.folder}/data\n`,
    folder: await tempFolder(context),
  });
  const jobs = { full: { target: new URL(agent.managementUrl).host } };
  const prometheus = await ownPrometheus(context, { rules: await quickRules(context), jobs });
  if (prometheus === undefined) return;
  await disk.fill();
  const timer = setInterval(() => void notify(agent).catch(() => undefined), 500);
  context.after(() => clearInterval(timer));

  await firing(prometheus, "DenebDiskNearlyFull", { path: `${disk.folder}/data` });
  await firing(prometheus, "DenebPutsRefused", { name: "c" });
  await firing(prometheus, "DenebNotificationsRejected", { status: "503" });
});

function small(store: "sqlite" | "away" = "sqlite"): string {
  return store === "sqlite"
    ? httpAgent({ channel: "file", sink: "rdb", lines: ["a.sinks.k.rdb_dialect = sqlite"] })
    : httpAgent({ channel: "file", sink: "http", lines: ["a.sinks.k.url = http://127.0.0.1:1/"] });
}

/** Waits until Prometheus has seen this number of dead letters of the sink `refusing`. */
async function isKept(prometheus: OwnPrometheus, count: number): Promise<void> {
  await until(
    () => prometheus.query('sum(deneb_dead_letters_kept_total{sink="refusing"})'),
    ([sample]) => sample?.value[1] === String(count),
  );
}

/** Waits until an alert with these labels fires, and does something before each look. */
async function firing(
  prometheus: OwnPrometheus,
  name: string,
  labels: Expected["labels"],
  meanwhile?: () => Promise<void>,
): Promise<Alert> {
  const wanted = Object.entries({ ...labels, alertname: name });
  const found = await until(
    async () => {
      await meanwhile?.();
      return (await prometheus.alerts()).find(
        (alert) => alert.state === "firing" && wanted.every(([label, value]) => alert.labels[label] === value),
      );
    },
    (alert) => alert !== undefined,
  );
  assert.ok(found !== undefined);
  return found;
}

async function firingNames(prometheus: OwnPrometheus): Promise<readonly string[]> {
  return (await prometheus.alerts())
    .filter(({ state }) => state === "firing")
    .map(({ labels }) => labels["alertname"] ?? "");
}
