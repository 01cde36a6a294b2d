import type { IncomingMessage } from "node:http";
import { RejectedDelivery } from "deneb/sdk";

/** Reads the body; undefined when the sender went away. Rejects with status 413 as soon as it is known to be too large. */
export function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  if (announcedBytes(request) > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const collect = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      request.off("data", collect);
      reject(tooLarge(limit));
    };
    request.on("data", collect);
    request.on("end", () => resolve(joined(chunks, size)));
    request.on("error", () => resolve(undefined));
  });
}

/** Looked for in the raw headers: making the object of all headers is a large part of reading a small body. */
function announcedBytes({ rawHeaders }: IncomingMessage): number {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === CONTENT_LENGTH.length && name.toLowerCase() === CONTENT_LENGTH) {
      return Number(rawHeaders[index + 1]);
    }
  }
  return 0;
}

const CONTENT_LENGTH = "content-length";

function joined(chunks: readonly Buffer[], size: number): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}

/** The rest of the body is not wanted, so the connection cannot carry another request. */
function tooLarge(limit: number): RejectedDelivery {
  return new RejectedDelivery(413, `The content is larger than ${limit} bytes`, { Connection: "close" });
}
