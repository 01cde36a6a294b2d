import type { Socket } from "node:net";

/** The connections that are in their TLS handshake: neither reader of requests has them yet. */
export class Handshakes {
  readonly #open = new Map<string, Socket>();

  begin(socket: Socket): void {
    const ends = endsOf(socket);
    this.#open.set(ends, socket);
    socket.once("close", () => {
      if (this.#open.get(ends) === socket) this.#open.delete(ends);
    });
  }

  /** Takes the secured connection, which is another socket than the one that began. */
  end(secured: Socket): void {
    this.#open.delete(endsOf(secured));
  }

  destroy(): void {
    for (const socket of this.#open.values()) socket.destroy();
  }
}

function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
