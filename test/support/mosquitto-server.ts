import { mosquittoProgram, startOwnMosquitto } from "./own-mosquitto.js";
import { reachable } from "./reachable.js";
import type { Servers } from "./servers.js";

/** The broker of the tests. */
export function brokerOfTests(): { readonly host: string; readonly port: number } {
  const { DENEB_TEST_MQTT_HOST, DENEB_TEST_MQTT_PORT } = process.env;
  return { host: DENEB_TEST_MQTT_HOST ?? "127.0.0.1", port: Number(DENEB_TEST_MQTT_PORT ?? 1883) };
}

/**
 * Makes an MQTT broker available to the test processes: the one that DENEB_TEST_MQTT_HOST and _PORT point to when it
 * answers, else one of our own from the program installed here.
 */
export async function provideMosquitto(): Promise<Servers> {
  const { host, port } = brokerOfTests();
  if (await reachable(host, port)) return { remarks: [`Mosquitto: ${host}:${port}`], absent: [], stop: async () => {} };
  const program = await mosquittoProgram();
  if (program === undefined) return without(`none at ${host}:${port}, and mosquitto is not installed here`);
  try {
    const own = await startOwnMosquitto(program);
    process.env["DENEB_TEST_MQTT_HOST"] = own.host;
    process.env["DENEB_TEST_MQTT_PORT"] = String(own.port);
    return { remarks: [`Mosquitto: our own, ${own.host}:${own.port}`], absent: [], stop: own.stop };
  } catch (error) {
    return without(`none at ${host}:${port}, and ${error instanceof Error ? error.message : String(error)}`);
  }
}

function without(reason: string): Servers {
  return { remarks: [`Mosquitto: ${reason}`], absent: ["mosquitto"], stop: async () => {} };
}
