import { provideChromium } from "./chromium-program.js";
import type { KafkaSettings } from "./kafka-properties.js";
import { provideMosquitto } from "./mosquitto-server.js";
import { providedKafka } from "./provided-kafka.js";
import { providedMysql } from "./provided-mysql.js";
import { providedNats } from "./provided-nats.js";
import { providedPgbouncer } from "./provided-pgbouncer.js";
import { providedPostgresql } from "./provided-postgresql.js";
import { providedRedis } from "./provided-redis.js";
import { type ProvidedServer, where } from "./provided-server.js";

/** The servers the tests may use. */
export interface Servers {
  /** One line for people on each server: where it is, or why it is not there. */
  readonly remarks: readonly string[];
  /** Names of the servers that could not be had; tests that need them are skipped. */
  readonly absent: readonly string[];
  /** Ends the servers that were started here. Safe to call twice. */
  stop(): Promise<void>;
}

const providers = {
  mysql: () => provide(providedMysql()),
  mosquitto: provideMosquitto,
  redis: () => provide(providedRedis()),
  kafka: (settings?: KafkaSettings) => provide(providedKafka(settings)),
  nats: () => provide(providedNats()),
  postgresql: () => provide(providedPostgresql()),
  pgbouncer: () => provide(providedPgbouncer()),
};

export type ServerName = keyof typeof providers;

/** Makes PostgreSQL, a PgBouncer before it, MySQL, an MQTT broker, a Redis, a Kafka, a NATS and a browser available to the test processes, where that is possible. */
export async function provideServers({ browser }: { readonly browser: boolean }): Promise<Servers> {
  const { postgresql, pgbouncer, ...others } = providers;
  const withBouncer = async () => {
    const database = await postgresql();
    // It stands before the PostgreSQL.
    return together([database, await pgbouncer()]);
  };
  const all = [withBouncer(), ...Object.values(others).map((one) => one()), provideChromium(browser)];
  return together(await Promise.all(all));
}

/** The same for some of them: one that nobody asks still takes CPU time from what is measured beside it. `kafka`: how one of our own is set up. */
export async function provideSome(
  names: Iterable<ServerName>,
  { kafka }: { readonly kafka?: KafkaSettings } = {},
): Promise<Servers> {
  const start = (name: ServerName) => (name === "kafka" ? providers.kafka(kafka) : providers[name]());
  return together(await Promise.all([...names].map(start)));
}

function together(servers: readonly Servers[]): Servers {
  return {
    remarks: servers.flatMap(({ remarks }) => remarks),
    absent: servers.flatMap(({ absent }) => absent),
    stop: async () => {
      await Promise.all(servers.map(({ stop }) => stop()));
    },
  };
}

async function provide(server: ProvidedServer): Promise<Servers> {
  const { name, where: place, missingPrograms } = server;
  if (await server.answers()) return { remarks: [`${name}: ${place}`], absent: [], stop: async () => {} };
  try {
    const own = await server.start();
    if (own === undefined) return without(name, `none at ${place}, no ${missingPrograms} installed here`);
    server.announce(own);
    return { remarks: [`${name}: our own, ${where(own)}`], absent: [], stop: own.stop };
  } catch (error) {
    return without(name, `none at ${place}, and ${error instanceof Error ? error.message : String(error)}`);
  }
}

function without(name: string, reason: string): Servers {
  return { remarks: [`${name}: ${reason}`], absent: [name.toLowerCase()], stop: async () => {} };
}
