import { createServer } from "node:http";
import pg from "pg";

/** Stands in for the original in tests: a row for each notification, behind the answer, in the database of PGDATABASE. */
const [port = "0", answer = "200"] = process.argv.slice(2);
const client = new pg.Pool({ max: 1 });
await client.query("create schema if not exists bench");
await client.query("create table if not exists bench.stand_in (body text)");

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  response.writeHead(Number(answer), { "Content-Length": 0 }).end();
  await client.query("insert into bench.stand_in values ($1)", [Buffer.concat(chunks).toString()]);
});
server.listen(Number(port), "127.0.0.1");
