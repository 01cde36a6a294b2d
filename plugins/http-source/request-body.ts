import type { IncomingMessage } from "node:http";
import { RejectedDelivery } from "deneb/sdk";

/** Reads the body; undefined when the sender went away. Rejects with status 413 as soon as it is known to be too large. */
export function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.reject(tooLarge(limit));
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

function joined(chunks: readonly Buffer[], size: number): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}

/** The rest of the body is not wanted, so the connection cannot carry another request. */
function tooLarge(limit: number): RejectedDelivery {
  return new RejectedDelivery(413, `The content is larger than ${limit} bytes`, { Connection: "close" });
}
