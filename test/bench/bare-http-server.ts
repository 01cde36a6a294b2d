import { createServer } from "node:http";

/** The ceiling of any intake in one Node process: reads the body, parses it, answers. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { "Content-Length": 0 }).end();
  });
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" && address !== null ? address.port : "");
});
process.on("SIGTERM", () => process.exit(0));
