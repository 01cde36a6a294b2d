import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { TestContext } from "node:test";

/** Stands before a server, and can say something in its name. */
interface LyingServer {
  readonly port: number;
  /** What the server says next comes as this; the bytes are in latin1. */
  sayNext(lie: (truth: string) => string): void;
}

export async function lyingServer(
  context: TestContext,
  server: { readonly host: string; readonly port: number },
  { hangsUp }: { readonly hangsUp: boolean } = { hangsUp: true },
): Promise<LyingServer> {
  let next: ((truth: string) => string) | undefined;
  const relay = createServer({ allowHalfOpen: !hangsUp }, (near) => {
    const far = connect(server);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    context.after(end);
    for (const one of [near, far]) one.on("error", end);
    near.on("close", end);
    if (hangsUp) far.on("close", end);
    near.on("data", (bytes) => far.write(bytes));
    far.on("data", (bytes) => {
      const lie = next;
      next = undefined;
      near.write(lie === undefined ? bytes : Buffer.from(lie(bytes.toString("latin1")), "latin1"));
    });
  }).listen(0, "127.0.0.1");
  context.after(() => relay.close());
  await once(relay, "listening");
  const address = relay.address();
  const sayNext: LyingServer["sayNext"] = (lie) => {
    next = lie;
  };
  return { port: typeof address === "object" && address !== null ? address.port : 0, sayNext };
}

/** A message of PostgreSQL. */
export function message(type: string, body: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return type + length.toString("latin1") + body;
}
