import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { brokerStandIn } from "../../support/broker.js";
import { runningManagement } from "../../support/running-management.js";
import { requests, v2 } from "./payloads.js";

const megabyte = 1024 * 1024;
const head = (status: string, headers = "") => `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${headers}\r\n`;

/** Each writes to the connection of a call and does not end it; the agent has to. */
const lies = [
  {
    lie: "a body without an end",
    write: (socket: Socket) => endless(socket, head("200 OK"), "x".repeat(megabyte)),
    status: 502,
  },
  { lie: "a body of one byte now and then", write: (socket: Socket) => drip(socket, head("200 OK"), " "), status: 504 },
  {
    lie: "headers without an end",
    write: (socket: Socket) => endless(socket, "HTTP/1.1 200 OK\r\n", "A: b\r\n".repeat(1000)),
    status: 502,
  },
  {
    lie: "one byte of a header now and then",
    write: (socket: Socket) => drip(socket, "HTTP/1.1 200 OK\r\nA: ", "b"),
    status: 504,
  },
  {
    lie: "interim answers without an end",
    write: (socket: Socket) => drip(socket, "", "HTTP/1.1 102 Processing\r\n\r\n"),
    status: 504,
  },
  {
    lie: "a shorter body than announced",
    write: (socket: Socket) => socket.end(head("200 OK", "Content-Length: 9\r\n")),
    status: 502,
  },
  { lie: "no HTTP", write: (socket: Socket) => socket.end("SSH-2.0-x\r\n"), status: 502 },
  {
    lie: "an upgrade",
    write: (socket: Socket) => socket.end(head("101 Switching Protocols", "Upgrade: x\r\nConnection: Upgrade\r\n")),
    status: 502,
  },
] as const;

for (const { lie, write, status } of lies)
  for (const operation of ["create", "one", "all", "delete"] as const)
    test(`${operation}: a broker that sends ${lie} is answered ${status}`, async (context) => {
      const endpoint = await rawBroker(context, write);
      const { call, lines } = await runningManagement(context, { brokerTimeoutMillis: status === 504 ? 700 : 60_000 });
      const { method, path, body } = requests[operation]("2", endpoint);

      const answer = await call(method, path, { body });

      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.success, "false");
      if (operation === "create")
        assert.match(answer.body.error, /; the subscription may exist: looking for it failed/);
      assert.deepEqual(
        lines.filter(({ level }) => level === "error"),
        [],
      );
    });

const bodies = [
  { what: "10000 levels of lists", body: `${"[".repeat(10_000)}${"]".repeat(10_000)}`, status: 502 },
  {
    what: "four million elements",
    body: `[0${",0".repeat(4_000_000)}]`,
    status: 200,
    finding: /the broker lists 4000001 subscriptions, too many to look for it/,
  },
  { what: "half a JSON text", body: '[{"id":"a"', status: 502 },
  { what: "a text", body: '"text"', status: 502 },
  { what: "null elements", body: "[null,1,[],{}]", status: 200 },
  { what: "names of prototypes", body: '[{"__proto__":{"id":"a"},"constructor":1,"id":{}}]', status: 200 },
];

for (const { what, body, status, finding } of bodies)
  test(`a broker whose list is ${what} is answered ${status}, and creating says what it found there`, async (context) => {
    const { endpoint } = await brokerStandIn(context, ({ method }) =>
      method === "POST" ? "cut" : { status: 200, body },
    );
    const { call } = await runningManagement(context);
    const all = requests.all("2", endpoint);
    const create = requests.create("2", endpoint);

    const list = await call(all.method, all.path, { body: all.body });
    const created = await call(create.method, create.path, { body: create.body });

    assert.equal(list.status, status, list.text.slice(0, 200));
    assert.equal(created.status, 502);
    assert.match(
      created.body.error,
      finding ?? (status === 200 ? /none like it was found/ : /looking for it was answered with/),
    );
  });

test("a broker whose list never ends is not read without limit", async (context) => {
  let page = 0;
  const { calls, endpoint } = await brokerStandIn(context, () => {
    page += 1;
    return {
      status: 200,
      body: Array.from({ length: 100 }, (_, index) => ({ id: `${page}-${index}`, x: "x".repeat(10_000) })),
    };
  });
  const { call } = await runningManagement(context);
  const { method, path, body } = requests.all("2", endpoint);

  const answer = await call(method, path, { body });

  assert.equal(answer.status, 502);
  assert.match(answer.body.error, /more than 16777216 bytes/);
  assert.ok(calls.length < 20);
});

test("an answer names at most twenty of the subscriptions that were found", async (context) => {
  const like = Array.from({ length: 90 }, (_, index) => ({ ...v2, id: `s${index}` }));
  const { endpoint } = await brokerStandIn(context, ({ method }) =>
    method === "POST" ? "cut" : { status: 200, body: like },
  );
  const { call } = await runningManagement(context);
  const { method, path, body } = requests.create("2", endpoint);

  const answer = await call(method, path, { body });

  assert.match(answer.body.error, /the broker has 90 like it/);
  assert.equal(answer.body.result.found.length, 20);
  assert.deepEqual(answer.body.result.found[0], { id: "s0", status: null });
});

const targets = [
  { allowed: "127.0.0.1/orion", path: "/orion", calls: 1 },
  { allowed: "127.0.0.1/orion/", path: "/orion/a", calls: 1 },
  { allowed: "127.0.0.1/orion", path: "/orionx", calls: 0 },
  { allowed: "127.0.0.1/orion", path: "", calls: 0 },
  { allowed: "*/orion", path: "/orion", calls: 1 },
  { allowed: "127.0.0.1", path: "/any/path", calls: 1 },
];

for (const { allowed, path: prefix, calls: expected } of targets)
  test(`with the broker target ${allowed} the path prefix "${prefix}" is ${expected === 1 ? "allowed" : "refused"}`, async (context) => {
    const { calls, endpoint } = await brokerStandIn(context, () => ({ status: 200, body: [] }));
    const { call } = await runningManagement(context, { targets: [allowed] });
    const { method, path, body } = requests.all("2", { ...endpoint, path: prefix });

    const answer = await call(method, path, { body });

    assert.equal(answer.status, expected === 1 ? 200 : 403);
    assert.equal(calls.length, expected);
  });

async function rawBroker(context: TestContext, write: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => write(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return { host: "127.0.0.1", port: address.port, ssl: false };
}

function endless(socket: Socket, start: string, part: string): void {
  socket.write(start);
  const more = () => {
    while (!socket.destroyed && socket.write(part));
  };
  socket.on("drain", more);
  more();
}

function drip(socket: Socket, start: string, part: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(part), 20);
  socket.on("close", () => clearInterval(timer));
}
