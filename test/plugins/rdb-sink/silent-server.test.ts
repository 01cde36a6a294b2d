import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { silentServer } from "./fake-server.js";
import { entity, eventOf, sinkOf } from "./sinks.js";

const HOUR = 3_600_000;
const events = [eventOf(entity("e", { a: "1" }), "s")];

/** A sink of a server that accepts connections and says nothing. */
async function scene(context: TestContext, dialect: "postgresql" | "mysql") {
  const server = await silentServer(context);
  const place = { rdb_host: "127.0.0.1", rdb_port: server.port, rdb_options: "sslmode=disable" };
  const made = sinkOf({ ...place, rdb_dialect: dialect, rdb_connect_timeout: HOUR, rdb_statement_timeout: HOUR });
  return { ...made, ...server };
}

for (const dialect of ["postgresql", "mysql"] as const) {
  test(`a stop ends connections to a ${dialect} server that does not answer`, { timeout: 20_000 }, async (context) => {
    const { sink, connections } = await scene(context, dialect);
    const connected = once(connections, "connection");
    const halting = new AbortController();
    const writing = assert.rejects(sink.persist({ events }, halting.signal), { retryable: true });
    const [socket] = await connected;
    const closed = once(socket, "close");

    halting.abort();
    await writing;
    await sink.stop(AbortSignal.abort());

    await closed;
  });

  test(`a ${dialect} sink that is stopped while it starts does nothing more`, { timeout: 20_000 }, async (context) => {
    const { sink, lines, connections } = await scene(context, dialect);
    const connected = once(connections, "connection");
    const starting = sink.start();
    await connected;

    await sink.stop(AbortSignal.abort());
    await starting;

    assert.deepEqual(lines, []);
  });

  test(`a ${dialect} sink starts while its server does not answer`, { timeout: 20_000 }, async (context) => {
    const { sink, lines } = await scene(context, dialect);

    await sink.start();
    await sink.stop(AbortSignal.abort());

    assert.deepEqual(lines, []);
  });
}
