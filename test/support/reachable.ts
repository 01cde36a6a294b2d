import { once } from "node:events";
import { connect } from "node:net";

const PATIENCE_MILLIS = 20_000;

/** Whether somebody listens there. */
export async function reachable(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: PATIENCE_MILLIS });
  socket.on("timeout", () => socket.destroy(new Error("no answer")));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
