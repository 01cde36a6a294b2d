import { createServer } from "node:net";

/**
 * The ceiling of an intake in one Node process that has no use for Node's HTTP parser: finds the head, parses the body,
 * answers.
 */
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const END_OF_HEAD = "\r\n\r\n";

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    let received: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = received.indexOf(END_OF_HEAD);
      if (head < 0) break;
      const length = Number(/content-length: *(\d+)/i.exec(received.toString("latin1", 0, head))?.[1] ?? 0);
      const end = head + END_OF_HEAD.length + length;
      if (received.length < end) break;
      JSON.parse(received.toString("utf8", end - length, end));
      socket.write(ANSWER);
      received = received.subarray(end);
    }
    rest = received;
  });
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" && address !== null ? address.port : "");
});
process.on("SIGTERM", () => process.exit(0));
