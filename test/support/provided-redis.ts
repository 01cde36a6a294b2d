import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { installedProgram } from "./installed-program.js";
import { startOwnProgram } from "./own-program.js";
import { type OwnServer, type ProvidedServer, where } from "./provided-server.js";
import { reachable } from "./reachable.js";

const HOST = "127.0.0.1";

/** The Redis of the tests. */
export function redisOfTests(): { readonly host: string; readonly port: number } {
  const { DENEB_TEST_REDIS_HOST, DENEB_TEST_REDIS_PORT } = process.env;
  return { host: DENEB_TEST_REDIS_HOST ?? HOST, port: Number(DENEB_TEST_REDIS_PORT ?? 6379) };
}

/** The Redis that DENEB_TEST_REDIS_HOST and _PORT point to when it answers, else one of our own from the program installed here. */
export function providedRedis(): ProvidedServer {
  const given = redisOfTests();
  return {
    name: "Redis",
    where: where(given),
    answers: () => reachable(given.host, given.port),
    missingPrograms: "redis-server",
    start: startOwnRedis,
    announce: ({ host, port }) => {
      process.env["DENEB_TEST_REDIS_HOST"] = host;
      process.env["DENEB_TEST_REDIS_PORT"] = String(port);
    },
  };
}

/** A Redis on the loopback interface that keeps nothing on disk; undefined where it is not installed. */
async function startOwnRedis(): Promise<OwnServer | undefined> {
  const program = await installedProgram("redis-server");
  if (program === undefined) return undefined;
  const port = await freePort(HOST);
  const folder = await mkdtemp(join(tmpdir(), "deneb-redis-"));
  const args = ["--bind", HOST, "--port", String(port), "--save", "", "--appendonly", "no"];
  const stop = await startOwnProgram({ program, args, folder, host: HOST, port });
  return { host: HOST, port, user: "", stop };
}
