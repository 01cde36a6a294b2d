import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { tempFolder } from "../support/temp-folder.js";
import { notification } from "./notification.js";

const SENDERS = 8;
const RATE = 20;
const BURST = 50;

const properties = (...lines: readonly string[]) => `
deneb.sources = http-source
deneb.channels = c
deneb.sinks = k
deneb.sources.http-source.type = http
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.channels = c
deneb.sources.http-source.handler = ngsi
deneb.sources.http-source.quota.events_per_second = ${RATE}
deneb.sources.http-source.quota.burst = ${BURST}
deneb.sources.http-source.quota.services.Calm = -1
deneb.sources.http-source.quota.most_services = 10
deneb.channels.c.type = file
deneb.channels.c.fair_taking = true
deneb.channels.c.service_percentage = 50
deneb.sinks.k.channel = c
${lines.join("\n")}
`;

const inSqlite = ["deneb.sinks.k.type = rdb", "deneb.sinks.k.rdb_dialect = sqlite"];
/** For services that would have a database each. */
const inTheLog = ["deneb.sinks.k.type = logger"];

interface Answer {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

function post(url: string, service: string, agent: Agent): Promise<Answer> {
  const body = notification("urn:ngsi-ld:Room:1", 20);
  const headers = { "Content-Type": "application/ld+json", "Fiware-Service": service };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () =>
        resolve({
          status: response.statusCode,
          retryAfter: response.headers["retry-after"],
          text: Buffer.concat(chunks).toString(),
        }),
      );
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

async function limitedAgent(
  context: TestContext,
  sink: readonly string[],
): Promise<{ readonly agent: AgentProcess; readonly sockets: Agent }> {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: properties(...sink), folder });
  const sockets = new Agent({ keepAlive: true, maxSockets: SENDERS + 1 });
  context.after(() => sockets.destroy());
  return { agent, sockets };
}

type Reply = ReturnType<typeof JSON.parse>;

async function statistics(agent: AgentProcess): Promise<Reply> {
  return (await (await fetch(`${agent.managementUrl}/v1/stats`)).json()) as Reply;
}

test("a service that floods is answered 429 beyond its quota, and every notification of another one is accepted", async (context) => {
  const { agent, sockets } = await limitedAgent(context, inSqlite);
  const flood: Answer[] = [];
  const calm: Answer[] = [];
  let flooding = true;
  const begun = performance.now();
  const senders = Array.from({ length: SENDERS }, async () => {
    while (flooding) flood.push(await post(agent.notifyUrl, "flood", sockets));
  });
  while (calm.length < 20 || flood.length < 600) calm.push(await post(agent.notifyUrl, "calm", sockets));
  flooding = false;
  await Promise.all(senders);
  const seconds = (performance.now() - begun) / 1000;

  assert.ok(calm.every(({ status }) => status === 200));
  const accepted = flood.filter(({ status }) => status === 200).length;
  const refused = flood.filter(({ status }) => status !== 200);
  assert.ok(accepted >= BURST && accepted <= BURST + RATE * seconds + 1, `${accepted} in ${seconds} s`);
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([429]));
  for (const { retryAfter, text } of refused) {
    assert.match(retryAfter ?? "", /^[1-9]\d{0,3}$/);
    assert.match(text, /source \\?"http-source\\?" accepts 20 events per second, 50 at once of service/);
  }
  const books = await settledBooks(agent);
  assert.equal(books.stored, accepted + calm.length);
  const { stats } = await statistics(agent);
  assert.deepEqual(stats.sources[0].over_quota, [{ service: "flood", num_refused_events: refused.length }]);
  assert.deepEqual(stats.channels[0].largest_services, []);
  const metrics = await (await fetch(`${agent.managementUrl}/metrics`)).text();
  const counted = `deneb_source_refused_total{source="http-source",status="429",cause="quota"} ${refused.length}`;
  assert.ok(metrics.includes(counted));
  const warning = agent.lines.find(({ msg }) => msg === "requests refused");
  assert.deepEqual([warning?.["cause"], warning?.["service"]], ["quota", "flood"]);
  await agent.end("SIGTERM");
});

test("invented and odd names of services escape no quota, and the service that is named is not touched by them", async (context) => {
  const { agent, sockets } = await limitedAgent(context, inTheLog);
  const odd = ["__proto__", "constructor", ")$%^&", "ä", "a b", "a.b", "'; drop table x; --", "CALM2", "x".repeat(50)];
  const begun = performance.now();
  const invented = Array.from({ length: SENDERS }, async (_, sender) => {
    let accepted = 0;
    for (let at = 0; at < 120; at += 1) {
      const service = odd[at * SENDERS + sender] ?? `invented${sender}_${at}`;
      if ((await post(agent.notifyUrl, Buffer.from(service).toString("latin1"), sockets)).status === 200) accepted += 1;
    }
    return accepted;
  });
  const counts = await Promise.all(invented);
  const seconds = (performance.now() - begun) / 1000;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const tooLong = await post(agent.notifyUrl, "y".repeat(51), sockets);

  assert.ok(total <= 11 * (BURST + RATE * seconds), `${total} in ${seconds} s`);
  assert.equal(tooLong.status, 400);
  for (let sent = 0; sent < 100; sent += 1) assert.equal((await post(agent.notifyUrl, "CALM", sockets)).status, 200);
  assert.equal((await settledBooks(agent)).stored, total + 100);
  await agent.end("SIGTERM");
});
