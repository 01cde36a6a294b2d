import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";
import { type TestContext, test } from "node:test";
import type { HttpConfig } from "../../../plugins/http-source/config.js";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { createdSource, runningSource, type Setting } from "./running-source.js";
import { sendOverTls, tlsFiles } from "./tls-client.js";

const never = new AbortController().signal;

type Running = Awaited<ReturnType<typeof runningSource>>;

/** Lets another source take the place of a running one, as a reload does. */
async function replaced(context: TestContext, { source: from, port }: Running, setting: Setting) {
  const handover = await from.handOver(never);
  await from.stop(never);
  assert.ok(handover !== undefined);
  context.after(() => handover.close());
  const next = createdSource(context, setting);
  const taken = next.source.takeOver(handover);
  return { ...next, port, handover, taken };
}

test("connections go on behind the next source: idle, silent, half of a body, and over Node's parser", async (context) => {
  const first = await runningSource(context);
  const { port } = first;
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  const headers = { "Content-Type": "application/json", "Transfer-Encoding": "chunked" };
  await send(port, { agent, headers });
  const idle = await RawConnection.open(context, port);
  idle.send(post(notification));
  await idle.received(1);
  const silent = await RawConnection.open(context, port);
  const half = await RawConnection.open(context, port);
  half.send(post(notification).slice(0, -10));
  await send(port);

  const next = await replaced(context, first, {});
  await next.source.start();
  idle.send(post(notification));
  silent.send(post(notification));
  half.send(post(notification).slice(-10));
  const answers = [await idle.received(2), await silent.received(1), await half.received(1)];
  const reused = await send(port, { agent, headers });

  assert.deepEqual(
    answers.map((text) => text.match(/HTTP\/1.1 200 OK/g)?.length),
    [2, 1, 1],
  );
  assert.deepEqual([reused.status, reused.reused], [200, true]);
  assert.equal(first.emitted.length, 3);
  assert.equal(next.emitted.length, 4);
});

test("a request in flight is answered by the source that began it; those that come then wait for the next one", async (context) => {
  const settle: (() => void)[] = [];
  const first = await runningSource(context, { emit: () => new Promise((resolve) => settle.push(resolve)) });
  const begun = send(first.port);
  while (settle.length === 0) await new Promise(setImmediate);

  const handing = first.source.handOver(never);
  const waiting = send(first.port);
  await RawConnection.open(context, first.port);
  settle[0]?.();
  const handover = await handing;
  const next = createdSource(context);
  assert.ok(handover !== undefined);
  assert.equal(next.source.takeOver(handover), true);
  await next.source.start();

  assert.deepEqual([(await begun).status, (await waiting).status], [200, 200]);
  assert.deepEqual([first.emitted.length, next.emitted.length], [1, 1]);
});

test("when the next source does not start, the one before goes on with the same socket and those who waited", async (context) => {
  const first = await runningSource(context);
  const broken = await replaced(context, first, {
    config: { tls_key: "/missing.pem", tls_certificate: "/missing.pem" },
  });
  const waiting = send(first.port);
  await assert.rejects(broken.source.start(), { code: "TLS_UNREADABLE" });
  await broken.source.stop(never);

  const again = createdSource(context);
  assert.equal(again.source.takeOver(broken.handover), true);
  await again.source.start();

  assert.equal((await waiting).status, 200);
  assert.equal(again.source.port, first.port);
});

test("files of TLS that cannot be used at a reload leave those in use that were read before, and are named", async (context) => {
  const { config, server } = await tlsFiles(context);
  const running = await runningSource(context, { config });
  await writeFile(config.tls_certificate, server.cert.slice(0, 200));

  const next = await replaced(context, running, { config: { ...config, retry_after: 7 } });
  await next.source.start();
  assert.equal(await sendOverTls(running.port, { ca: server.cert }), 200);
  await rm(config.tls_key);
  const third = await replaced(context, { ...next, port: running.port }, { config });
  await third.source.start();
  assert.equal(await sendOverTls(running.port, { ca: server.cert }), 200);

  assert.match(JSON.stringify(next.lines), /certificate.pem.*tls_certificate.*holds no certificate/);
  assert.match(JSON.stringify(third.lines), /key.pem.*tls_key/);
  const elsewhere = await replaced(
    context,
    { ...third, port: running.port },
    {
      config: { ...config, tls_certificate: "/missing.pem" },
    },
  );
  await assert.rejects(elsewhere.source.start(), { code: "TLS_UNREADABLE" });
});

test("a source whose start ends after its stop takes nothing from the one that has the socket now", async (context) => {
  const { config } = await tlsFiles(context);
  const first = await runningSource(context);
  const slow = await replaced(context, first, { config });
  const starting = slow.source.start();
  await slow.source.stop(never);
  const again = createdSource(context);
  assert.equal(again.source.takeOver(slow.handover), true);
  await again.source.start();
  await starting;

  assert.equal((await send(first.port)).status, 200);
  assert.equal(again.emitted.length, 1);
});

test("settings count at once, for connections that are open as well", async (context) => {
  const first = await runningSource(context);
  const direct = await RawConnection.open(context, first.port);
  direct.send(post(notification));
  await direct.received(1);

  const config: Partial<HttpConfig> = { max_body_size: 10, max_header_size: 1024, token: ["secret"] };
  const next = await replaced(context, first, { config });
  await next.source.start();
  direct.send(post(notification, "X-Auth-Token: secret"));
  const tooLarge = await direct.untilClosed();
  const noToken = await send(first.port);
  const headers = { "X-Auth-Token": "secret", "Transfer-Encoding": "chunked", X: "x".repeat(2000) };

  assert.match(tooLarge, /HTTP\/1.1 413 /);
  assert.equal(noToken.status, 401);
  assert.equal((await send(first.port, { headers })).status, 431);
});

test("TLS comes, gets another certificate, asks for clients' ones and goes, on one port; open connections go on", async (context) => {
  const one = await tlsFiles(context);
  const other = await tlsFiles(context);
  const plain = await runningSource(context);
  const open = await RawConnection.open(context, plain.port);
  open.send(post(notification));
  await open.received(1);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  const { port } = plain;

  const first = await replaced(context, plain, { config: one.config });
  await first.source.start();
  assert.equal(await sendOverTls(port, { ca: one.server.cert, agent }), 200);
  const second = await replaced(context, first, { config: { ...other.config, tls_client_ca: other.clientCa } });
  await second.source.start();
  assert.equal(await sendOverTls(port, { ca: one.server.cert, agent }), 200, "the open connection");
  await assert.rejects(sendOverTls(port, { ca: one.server.cert }), "the first certificate");
  await assert.rejects(sendOverTls(port, { ca: other.server.cert }), "no client certificate");
  const { key, cert } = other.client;
  assert.equal(await sendOverTls(port, { ca: other.server.cert, key, cert }), 200);
  const third = await replaced(context, second, {});
  await third.source.start();
  open.send(post(notification));

  assert.match(await open.received(2), /200 OK.*200 OK/s);
  assert.equal((await send(port)).status, 200);
  assert.deepEqual([first.emitted.length, second.emitted.length, third.emitted.length], [1, 2, 2]);
});

test("a socket of another port is not taken; of another address of the same port it is replaced", async (context) => {
  const first = await runningSource(context);
  const otherPort = await replaced(context, first, { config: { port: 1 } });
  const everywhere = createdSource(context, { config: { bind: "0.0.0.0" } });

  assert.equal(otherPort.taken, false);
  assert.equal(everywhere.source.takeOver(otherPort.handover), true);
  await everywhere.source.start();

  await assert.rejects(send(first.port), { code: "ECONNREFUSED" });
  assert.equal((await send(everywhere.source.port ?? 0)).status, 200);
});

test("a listener that no source takes over is closed, with the requests that waited", async (context) => {
  const first = await runningSource(context);
  const handover = await first.source.handOver(never);
  const waiting = await RawConnection.open(context, first.port);
  waiting.send(post(notification));

  await handover?.close();

  await waiting.untilClosed();
  await assert.rejects(send(first.port), { code: "ECONNREFUSED" });
  assert.deepEqual(first.emitted, []);
});
