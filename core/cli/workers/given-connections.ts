import type { ChildProcess } from "node:child_process";
import { isRecord } from "../../sdk/event.js";

interface Connection {
  close(): void;
}

/**
 * Closes the connections that a worker was given and has not taken when it ends, frozen or busy as it was. Node forgets them then,
 * open as they are: their senders would wait without limit, and each would cost the supervisor a descriptor.
 */
export function closeUntaken(worker: ChildProcess): void {
  const given = new Map<unknown, Connection>();
  // Node has no event for it: its messages are the only place where it is seen.
  worker.send = new Proxy(worker.send, {
    apply(send, self, words: unknown[]) {
      const [message, connection] = words;
      if (isRecord(message) && message["act"] === "newconn" && isConnection(connection))
        given.set(message["seq"], connection);
      return Reflect.apply(send, self, words);
    },
  });
  // Taken, or refused and given to another worker.
  worker.on("internalMessage", (answer: unknown) => isRecord(answer) && given.delete(answer["ack"]));
  // Not "disconnect", which does not come while a connection is not taken.
  worker.on("exit", () => {
    for (const connection of given.values()) connection.close();
    given.clear();
  });
}

function isConnection(value: unknown): value is Connection {
  return isRecord(value) && typeof value["close"] === "function";
}
