import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { certificate } from "../../support/certificate.js";
import { patient, receiver, room, runningSink } from "./receiver.js";

const entity = (id: string, n: number) =>
  `{"id":"${id}","type":"Room","n":{"type":"Number","value":${n},"metadata":{}}}`;

test("each event is a request with its entity as NGSI JSON", async (context) => {
  const server = await receiver(context);
  const sink = await runningSink(context, { url: `${server.url}/in?a=b` });

  const receipt = await sink.persist({ events: [room("r1", 1), room("r1", 2)] }, patient);

  assert.deepEqual(
    server.requests.map(({ method, url, body }) => ({ method, url, body })),
    [entity("r1", 1), entity("r1", 2)].map((body) => ({ method: "POST", url: "/in?a=b", body })),
  );
  assert.equal(server.requests[0]?.headers["content-type"], "application/json");
  assert.deepEqual(receipt, { requestBytes: 2 * entity("r1", 1).length, responseBytes: 0 });
});

test("url, headers and body are what the templates make of an event", async (context) => {
  const server = await receiver(context);
  const sink = await runningSink(context, {
    url: `${server.url}/{{header.Fiware-Service}}/{{ entity.id }}?n={{attribute.n}}`,
    method: "PUT",
    content_type: "application/vnd.example+json",
    headers: { "Fiware-Service": "{{header.fiware-service}}", "X-Id": "{{entity.id}}", "X-None": "{{header.none}}" },
    body: '{"id":"{{entity.id}}","n":{{attribute.n}},"gone":{{attribute.gone}},"all":{"v":{{entity.values}}}}',
  });
  const id = 'a/b?"\n\u00fc';

  await sink.persist({ events: [room(id, 7, { "fiware-service": "a b" })] }, patient);

  const [request] = server.requests;
  assert.equal(request?.method, "PUT");
  assert.equal(request?.url, `/a%20b/${encodeURIComponent(id)}?n=7`);
  assert.equal(request?.headers["content-type"], "application/vnd.example+json");
  assert.equal(request?.headers["fiware-service"], "a b");
  assert.equal(request?.headers["x-id"], 'a/b?"%0A%C3%BC');
  assert.equal(request?.headers["x-none"], "");
  assert.deepEqual(JSON.parse(request?.body ?? ""), { id, n: 7, gone: null, all: { v: { id, type: "Room", n: 7 } } });
});

test("a batch is one request for each destination", async (context) => {
  const server = await receiver(context);
  const sink = await runningSink(context, {
    url: `${server.url}/{{header.fiware-service}}`,
    send: "batch",
    body: "{{attribute.n}}",
    max_connections: 1,
  });
  const other = { "fiware-service": "other" };

  await sink.persist({ events: [room("a", 1), room("a", 2, other), room("b", 3), room("a", 4)] }, patient);

  assert.deepEqual(
    server.requests.map(({ url, body }) => ({ url, body })),
    [
      { url: "/openiot", body: "[1,3,4]" },
      { url: "/other", body: "[2]" },
    ],
  );
});

test("the text around the events of a batch is a template, too", async (context) => {
  const server = await receiver(context);
  const sink = await runningSink(context, {
    url: server.url,
    send: "batch",
    body: "{{attribute.n}}",
    batch_body: '{"data":<{{events}}>}',
    batch_separator: "\n",
  });

  await sink.persist({ events: [room("a", 1), room("b", 2)] }, patient);

  assert.equal(server.requests[0]?.body, '{"data":<1\n2>}');
});

const logins = [
  { given: { bearer_token: "tok-en" }, header: "Bearer tok-en" },
  {
    given: { username: "me", password: "w\u00f6rd" },
    header: `Basic ${Buffer.from("me:w\u00f6rd").toString("base64")}`,
  },
  { given: {}, header: undefined },
] as const;
for (const { given, header } of logins)
  test(`with ${Object.keys(given)} the header Authorization is ${header}`, async (context) => {
    const server = await receiver(context);
    const sink = await runningSink(context, { url: server.url, ...given });

    await sink.persist({ events: [room("a", 1)] }, patient);

    assert.equal(server.requests[0]?.headers.authorization, header);
  });

test("https takes a server whose certificate it trusts, and no other", async (context) => {
  const files = await certificate(context);
  if (files === undefined) return;
  const tls = { cert: await readFile(files.cert), key: await readFile(files.key) };
  const server = await receiver(context, undefined, tls);
  const events = [room("a", 1)];
  const trusting = await runningSink(context, { url: server.url, tls_ca_file: files.cert });
  const careful = await runningSink(context, { url: server.url });

  await trusting.persist({ events }, patient);
  await assert.rejects(careful.persist({ events }, patient), {
    code: "HTTP_UNREACHABLE",
    retryable: true,
    message: `sending to "${server.url}/": the certificate of the server is not signed by a trusted authority (DEPTH_ZERO_SELF_SIGNED_CERT); give that authority in tls_ca_file`,
  });

  assert.equal(server.requests.length, 1);
});

test("files of certificates that are replaced count at the next try, and those that cannot be used do not", async (context) => {
  const [files, other] = [await certificate(context), await certificate(context)];
  if (files === undefined || other === undefined) return;
  const tls = { cert: await readFile(files.cert), key: await readFile(files.key) };
  const server = await receiver(context, undefined, tls);
  const sink = await runningSink(context, { url: server.url, tls_ca_file: other.cert });
  const events = [room("a", 1)];
  await assert.rejects(sink.persist({ events }, patient), /DEPTH_ZERO_SELF_SIGNED_CERT/);

  await writeFile(other.cert, tls.cert.subarray(0, 100));
  await assert.rejects(sink.persist({ events }, patient), /DEPTH_ZERO_SELF_SIGNED_CERT/);
  await writeFile(other.cert, tls.cert);
  await sink.persist({ events }, patient);

  assert.equal(server.requests.length, 1);
});

test("an id that would lead up the path of the url is refused for good", async (context) => {
  const server = await receiver(context);
  const sink = await runningSink(context, { url: `${server.url}/entities/{{entity.id}}/attrs` });

  await assert.rejects(sink.persist({ events: [room("..", 1)] }, patient), { code: "NOT_FOR_A_URL", retryable: false });

  assert.equal(server.requests.length, 0);
});

test("requests keep their connections", async (context) => {
  const ports = new Set<number | undefined>();
  const server = await receiver(context, (response) => {
    ports.add(response.req.socket.remotePort);
    response.end("ok");
  });
  const sink = await runningSink(context, { url: server.url, max_connections: 1 });

  for (const n of [1, 2, 3]) await sink.persist({ events: [room("a", n)] }, patient);

  assert.equal(server.requests.length, 3);
  assert.equal(ports.size, 1);
});
