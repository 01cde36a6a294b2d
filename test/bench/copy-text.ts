import type { Client, Connection, Submittable } from "pg";

/**
 * Runs a text with COPY ... FROM STDIN statements, and sends the same chunk of text format to each of them. A batch of
 * rows that is there as a whole needs no stream.
 */
export function copyText(client: Client, text: string, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const query: Submittable & Record<string, unknown> = {
      submit: (connection: Connection) => connection.query(text),
      handleCopyInResponse: (connection: { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }) => {
        connection.sendCopyFromChunk(chunk);
        connection.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleError: (error: Error) => {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => (failure === undefined ? resolve() : undefined),
    };
    client.query(query);
  });
}
