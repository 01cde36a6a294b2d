import { connect } from "@nats-io/transport-node";

/** Asks the API of JetStream, as an operator's tool does. */
export async function administer(
  server: string,
  call: string,
  body: object = {},
  login: { readonly user?: string; readonly pass?: string } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const connection = await connect({ servers: [server], ...login });
  try {
    const answer = await connection.request(`$JS.API.${call}`, JSON.stringify(body), { timeout: 10_000 });
    return JSON.parse(answer.string());
  } finally {
    await connection.close();
  }
}

/** Removes a stream; nothing when there is none. */
export async function removeStream(server: string, stream: string): Promise<void> {
  await administer(server, `STREAM.DELETE.${stream}`);
}
