import assert from "node:assert/strict";
import { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { BodyBudget } from "../../../../plugins/http-source/body-budget.js";
import { HeadReader } from "../../../../plugins/http-source/head-reader/head-reader.js";
import { noToken } from "../../../../plugins/http-source/responses.js";
import { recordingLog } from "../../../support/recording-log.js";
import { until } from "../../../support/until.js";
import { post } from "../raw-connection.js";
import { httpConfig } from "../running-source.js";

/** A connection whose other end reads nothing. */
class UnreadSocket extends Socket {
  override _write(): void {}
  override _read(): void {}
}

const reason = "x".repeat(1000);
const refusal = { ...noToken, headers: {}, reason };
const MOST = 1000;

/** A reader that refuses every request, and the connection that it reads. */
function refusingReader(context: TestContext) {
  const socket = new UnreadSocket();
  const handedOver: Socket[] = [];
  const reader = new HeadReader(httpConfig, {
    log: recordingLog().log,
    budget: new BodyBudget(httpConfig),
    admits: () => true,
    serve: (request) => request.refuse(refusal),
    turnAway: () => undefined,
    refused: () => undefined,
    handOver: (given) => handedOver.push(given),
    checkInterval: 10,
  });
  context.after(() => reader.destroy());
  context.after(() => socket.destroy());
  reader.add(socket);
  return { socket, reader, handedOver };
}

test("a sender that does not read its responses is handed to Node's parser, before they fill the memory", (context) => {
  const { socket, handedOver } = refusingReader(context);

  let sent = 0;
  for (; sent < MOST && handedOver.length === 0; sent += 1) socket.emit("data", Buffer.from(post("{}")));

  assert.deepEqual(handedOver, [socket]);
  assert.ok(socket.writableLength < socket.writableHighWaterMark + 2 * reason.length);
});

test("a sender that does not read its last response is disconnected, also while the source stops", async (context) => {
  const { socket, reader } = refusingReader(context);

  socket.emit("data", Buffer.from(post("{}", "Connection: close")));
  reader.close();
  const isOpen = !socket.destroyed;
  await until(async () => socket.destroyed, Boolean);

  assert.ok(isOpen);
});
