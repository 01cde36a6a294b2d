import { onAbort } from "deneb/sdk";
import type { MqttClient } from "mqtt";

/** Takes leave of the broker; one that hangs does not close the connection, which is then destroyed. */
export async function ended(client: MqttClient, signal: AbortSignal): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    client.stream.once("close", resolve);
  });
  const stopListening = onAbort(signal, () => client.stream.destroy());
  await Promise.race([client.endAsync(signal.aborted || !client.connected), closed]);
  stopListening();
}

/** Resolves when the work is done, or the signal aborts. */
export async function workOrAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stopListening = onAbort(signal, resolve);
    work.then(resolve, reject).finally(stopListening);
  });
}
