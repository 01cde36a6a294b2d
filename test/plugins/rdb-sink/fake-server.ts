import { once } from "node:events";
import { createServer, type Server } from "node:net";
import type { TestContext } from "node:test";

const SSL_REQUEST = 80_877_103;

const SALT = "abcdefghijklmnopqrst";
/** Of protocol 4.1 with authentication by plugins: version, connection, salt, what it offers, character set, state, the rest of the salt. */
const GREETING =
  `\x0a11.8.9-MariaDB\0\x01\0\0\0${SALT.slice(0, 8)}\0\x09\x82\x2d\x02\0\x08\0\x15${"\0".repeat(10)}` +
  `${SALT.slice(8)}\0mysql_native_password\0`;

/** A PostgreSQL server without TLS that refuses every connection with this SQLSTATE, in a message that may lack its end; its port. */
export async function refusingServer(
  context: TestContext,
  sqlState: string,
  message: string,
  { ended }: { readonly ended: boolean } = { ended: true },
): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (data.length >= 8 && data.readInt32BE(4) === SSL_REQUEST) socket.write("N");
      else socket.end(errorResponse(sqlState, message, ended));
    });
  }).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Begins the login over which the whole password is sent. */
export const FULL_LOGIN = "\x01\x04";
/** What a server says of a wrong password. */
export const DENIED = "\xff\x15\x04#28000Access denied for user 'u'@'localhost' (using password: YES)";

/** A MySQL without TLS that wants every account to log in by this plugin, and then answers so to what the client sends; its port. */
export async function mysqlAskingFor(
  context: TestContext,
  plugin: string,
  answers: readonly string[] = [],
): Promise<number> {
  const server = createServer((socket) => {
    const left = [`\xfe${plugin}\0${SALT}\0`, ...answers];
    let number = 0;
    socket.on("error", () => undefined);
    socket.write(packet(number, GREETING));
    socket.on("data", () => {
      const next = left.shift();
      number += 2;
      if (next !== undefined) socket.write(packet(number, next));
      if (next === DENIED) socket.end();
    });
  }).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server that accepts connections and says nothing, and its port. */
export async function silentServer(
  context: TestContext,
): Promise<{ readonly port: number; readonly connections: Server }> {
  const connections = createServer((socket) => {
    context.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.resume();
  }).listen(0, "127.0.0.1");
  context.after(() => connections.close());
  await once(connections, "listening");
  const address = connections.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, connections };
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

function errorResponse(sqlState: string, message: string, ended: boolean): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0${ended ? "\0" : ""}`);
  const head = Buffer.alloc(5, "E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

function packet(number: number, body: string): Buffer {
  const bytes = Buffer.from(body, "latin1");
  const head = Buffer.alloc(4);
  head.writeUIntLE(bytes.length, 0, 3);
  head[3] = number;
  return Buffer.concat([head, bytes]);
}
