import { once } from "node:events";
import { connect } from "node:net";
import { natsProgram, startOwnNats } from "./own-nats.js";
import { type ProvidedServer, where } from "./provided-server.js";

/** The NATS server of the tests. */
export function natsOfTests(): { readonly host: string; readonly port: number } {
  const { DENEB_TEST_NATS_HOST, DENEB_TEST_NATS_PORT } = process.env;
  return { host: DENEB_TEST_NATS_HOST ?? "127.0.0.1", port: Number(DENEB_TEST_NATS_PORT ?? 4222) };
}

/** The NATS with JetStream that DENEB_TEST_NATS_HOST and _PORT point to when it answers, else one of our own from the program installed here. */
export function providedNats(): ProvidedServer {
  const given = natsOfTests();
  return {
    name: "NATS",
    where: where(given),
    answers: () => answersNats(given),
    missingPrograms: "nats-server",
    start: async () => {
      const program = await natsProgram();
      return program === undefined ? undefined : await startOwnNats(program);
    },
    announce: ({ host, port }) => {
      process.env["DENEB_TEST_NATS_HOST"] = host;
      process.env["DENEB_TEST_NATS_PORT"] = String(port);
    },
  };
}

const PATIENCE_MILLIS = 20_000;

/** Whether a NATS with JetStream greets there. */
export async function answersNats({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  const socket = connect({ host, port, timeout: PATIENCE_MILLIS });
  socket.on("timeout", () => socket.destroy(new Error("no answer")));
  try {
    const [greeting] = await once(socket, "data");
    return /^INFO .*"jetstream":true/.test(String(greeting));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
