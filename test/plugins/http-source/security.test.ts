import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { connect } from "node:net";
import { test } from "node:test";
import plugin from "../../../plugins/http-source/index.js";
import { selfSigned } from "../../support/certificates.js";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { httpConfig, runningSource } from "./running-source.js";
import { sendOverTls, tlsFiles } from "./tls-client.js";

const json = { "Content-Type": "application/json" };

const tokenCases = [
  { headers: {}, status: 401 },
  { headers: { Authorization: "Bearer wrong" }, status: 401 },
  { headers: { Authorization: "Basic second" }, status: 401 },
  { headers: { "X-Auth-Token": "" }, status: 401 },
  { headers: { Authorization: "Bearer first" }, status: 200 },
  { headers: { Authorization: "bearer second" }, status: 200 },
  { headers: { "X-Auth-Token": "second" }, status: 200 },
] as const;

for (const { headers, status } of tokenCases)
  test(`with tokens a notification with ${JSON.stringify(headers)} is answered ${status}`, async (context) => {
    const config = { token: ["first", "second"] };
    const { port, emitted, accounted, lines } = await runningSource(context, { config });

    const answer = await send(port, { headers: { ...json, ...headers } });

    assert.equal(answer.status, status);
    assert.equal(emitted.length, status === 200 ? 1 : 0);
    assert.equal(accounted[0]?.failed, status !== 200);
    if (status === 401) assert.equal(answer.headers["www-authenticate"], 'Bearer realm="notifications"');
    assert.doesNotMatch(JSON.stringify(lines), /first|second|wrong/);
  });

test("the warning about a missing token names path and service", async (context) => {
  const { port, lines } = await runningSource(context, { config: { token: ["first"] } });

  await send(port, { headers: { ...json, "Fiware-Service": "openiot" } });

  const warned = lines.find(({ message }) => message === "requests refused");
  assert.match(JSON.stringify(warned), /"path":"\/notify","service":"openiot"/);
});

test("with key and certificate notifications come over TLS", async (context) => {
  const { config, server } = await tlsFiles(context);
  const { port, emitted } = await runningSource(context, { config });

  const status = await sendOverTls(port, { ca: server.cert });

  assert.equal(status, 200);
  assert.equal(emitted.length, 1);
  await assert.rejects(send(port));
});

test("over TLS a connection carries plain requests, then one that is not, and plain ones again", async (context) => {
  const { config, server } = await tlsFiles(context);
  const { port, emitted } = await runningSource(context, { config });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  const options = { ca: server.cert, agent };
  const chunked = { ...options, headers: { ...json, "Transfer-Encoding": "chunked" } };

  const statuses: unknown[] = [];
  for (const one of [options, options, chunked, options]) statuses.push(await sendOverTls(port, one));

  assert.deepEqual(statuses, [200, 200, 200, 200]);
  assert.equal(emitted.length, 4);
});

test("a stop does not wait for a sender in its TLS handshake", { timeout: 20_000 }, async (context) => {
  const { config, server } = await tlsFiles(context);
  const { port, source } = await runningSource(context, {
    config: { ...config, headers_timeout: 0, request_timeout: 0 },
  });
  const sender = connect(port, "127.0.0.1").resume();
  context.after(() => sender.destroy());
  await once(sender, "connect");
  const closed = once(sender, "close");
  // Accepted after the first one.
  assert.equal(await sendOverTls(port, { ca: server.cert }), 200);

  await source.stop(new AbortController().signal);

  await closed;
});

/** As tools for certificates do: half of a file is never there. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

test("files of TLS that are replaced are in use for the connections that come then, and those that cannot be used change nothing", async (context) => {
  const [first, second] = [await tlsFiles(context), selfSigned("second")];
  const { config } = first;
  const { port, logged, lines, health } = await runningSource(context, { config, lookMillis: 5 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  assert.equal(await sendOverTls(port, { ca: first.server.cert, agent }), 200);

  const refused = logged("the files of TLS that were read before stay in use");
  await replace(config.tls_certificate, second.cert);
  await refused;
  assert.equal(await sendOverTls(port, { ca: first.server.cert }), 200, "the key of another certificate");
  const replaced = logged("the files of TLS can be used again");
  await replace(config.tls_key, second.key);
  await replaced;

  assert.equal(await sendOverTls(port, { ca: second.cert }), 200);
  await assert.rejects(sendOverTls(port, { ca: first.server.cert }));
  assert.equal(await sendOverTls(port, { ca: first.server.cert, agent }), 200, "the open connection");
  assert.equal(lines.filter(({ message }) => /stay in use/.test(message)).length, 1);
  assert.match(
    JSON.stringify(health),
    /^\[\{"state":"degraded","reason":".*tls_key.*not the key of the certificate.*\{"state":"up"\}\]$/,
  );
});

test("with a client CA only senders with one of its certificates are served", async (context) => {
  const { config, server, client, clientCa } = await tlsFiles(context);
  const { port } = await runningSource(context, { config: { ...config, tls_client_ca: clientCa } });

  const status = await sendOverTls(port, { ca: server.cert, key: client.key, cert: client.cert });

  assert.equal(status, 200);
  await assert.rejects(sendOverTls(port, { ca: server.cert }));
});

const handshakes = [
  {
    sender: "that does not use TLS",
    connects: async (port: number) => void (await assert.rejects(send(port))),
    says: /^The sender does not use TLS: the url of the subscription must begin with https:\/\/ \(/,
  },
  {
    sender: "without a certificate",
    connects: async (port: number, ca: string) => void (await assert.rejects(sendOverTls(port, { ca }))),
    says: /^The sender has no certificate, and tls_client_ca wants one \(/,
  },
  {
    sender: "with a certificate of another authority",
    connects: async (port: number, ca: string) =>
      void (await assert.rejects(sendOverTls(port, { ...selfSigned("stranger"), ca }))),
    says: /^The certificate of the sender is not one of tls_client_ca, or not valid now \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
  },
  {
    sender: "of another time",
    connects: async (port: number, ca: string) => {
      const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" };
      await assert.rejects(sendOverTls(port, { ca, ...old }));
    },
    says: /^The sender knows no version or cipher of TLS that this source has \(/,
  },
  {
    sender: "that does not trust the source",
    connects: async (port: number) => {
      const client = spawn("openssl", ["s_client", "-connect", `127.0.0.1:${port}`, "-verify_return_error"], {
        stdio: "ignore",
      });
      assert.deepEqual(await once(client, "exit"), [1, null]);
    },
    says: /^The sender does not accept the certificate of this source, tls_certificate \(/,
  },
] as const;

for (const { sender, connects, says } of handshakes)
  test(`the handshake of a sender ${sender} is counted and warned about, with the reason`, async (context) => {
    const { config, server, clientCa } = await tlsFiles(context);
    const { port, refused, logged, lines } = await runningSource(context, {
      config: { ...config, tls_client_ca: clientCa },
    });
    const warned = logged("requests refused");

    await connects(port, server.cert);
    await warned;

    assert.deepEqual(
      refused.map(({ status, cause }) => [status, cause]),
      [[400, "tls-handshake"]],
    );
    const [warning] = lines.filter(({ message }) => message === "requests refused");
    assert.match(String(Reflect.get(warning?.fields ?? {}, "reason")), says);
  });

test("a sender that only looks whether a port with TLS is open is not counted", async (context) => {
  const { config, server } = await tlsFiles(context);
  const { port, refused } = await runningSource(context, { config });
  const sender = await RawConnection.open(context, port);
  sender.reset();

  assert.equal(await sendOverTls(port, { ca: server.cert }), 200);

  assert.deepEqual(refused, []);
});

const others = [
  { what: "TLS", sent: "\x16\x03\x01\x00\x05\x01", says: /TLS is not expected: the source has no tls_certificate/ },
  { what: "HTTP/2", sent: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", says: /HTTP\/2 is not supported/ },
];

for (const { what, sent, says } of others)
  test(`${what} to a source without it is named in the answer and in the log`, async (context) => {
    const { port, lines } = await runningSource(context);
    const connection = await RawConnection.open(context, port);

    connection.send(sent);

    assert.match(await connection.untilClosed(), says);
    assert.match(JSON.stringify(lines), says);
  });

test("a TLS file that cannot be used keeps the source from starting and is named", async (context) => {
  const { config } = await tlsFiles(context);

  await assert.rejects(runningSource(context, { config: { ...config, tls_key: "/missing.pem" } }), /"\/missing.pem"/);
  await assert.rejects(runningSource(context, { config: { ...config, tls_key: config.tls_certificate } }), {
    code: "TLS_UNUSABLE",
    message: /property "tls_key" cannot be used: it holds no key in PEM/,
  });
});

const declared = [
  { tls_key: "a", properties: ["tls_certificate"] },
  { tls_certificate: "a", properties: ["tls_key"] },
  { tls_client_ca: "a", properties: ["tls_key", "tls_certificate"] },
  { tls_key: "a", tls_certificate: "b", properties: [] },
] as const;

for (const { properties, ...given } of declared)
  test(`${JSON.stringify(given)} has faults in [${properties}]`, () => {
    const faults = plugin.check?.({ ...httpConfig, ...given });

    assert.deepEqual(
      faults?.map(({ property }) => property),
      properties,
    );
  });

/** The headers of a refused request name its service. */
const senders = [
  { headers: json, body: "{bad", service: "def_serv_ld" },
  { headers: { ...json, "Fiware-Service": "openiot" }, body: "{bad", service: "openiot" },
  { headers: { "Fiware-Service": "openiot" }, body: notification, service: "openiot" },
  { headers: { ...json, "Fiware-Service": "s".repeat(51) }, body: notification, service: "" },
] as const;

for (const { headers, body, service } of senders)
  test(`a refused request with ${JSON.stringify(headers)} is accounted under the service "${service}"`, async (context) => {
    const { port, accounted } = await runningSource(context);

    const { status } = await send(port, { headers, body });

    assert.equal(status, 400);
    assert.deepEqual(
      accounted.map((one) => [one.service, one.servicePath, one.failed]),
      [[service, "/", true]],
    );
  });

test("with tokens a sender without one is refused before it has sent its body", async (context) => {
  const { port, accounted } = await runningSource(context, { config: { token: ["secret"] } });
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification).slice(0, -5));
  const answer = await connection.received(1);

  assert.match(answer, /^HTTP\/1.1 401 Unauthorized\r\n/);
  assert.equal(accounted[0]?.requestBytes, 0);
});

test("the bytes of a refused request whose body came with its head are accounted", async (context) => {
  const { port, accounted } = await runningSource(context, { config: { token: ["secret"] } });
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification));
  const response = await connection.received(1);

  assert.match(response, /^HTTP\/1.1 401 Unauthorized\r\n/);
  assert.equal(accounted[0]?.requestBytes, Buffer.byteLength(notification));
});
