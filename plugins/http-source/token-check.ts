import { createHash, timingSafeEqual } from "node:crypto";
import { type Delivery, RejectedDelivery } from "deneb/sdk";

type Headers = Delivery["headers"];

/** Makes the check of a request's token: it throws a refusal with status 401 when none of the tokens is given. */
export function tokenCheck(tokens: readonly string[]): (headers: Headers) => void {
  if (tokens.length === 0) return () => {};
  const known = tokens.map(digest);
  return (headers) => {
    const given = givenTokens(headers).map(digest);
    // All are compared, in a time that does not depend on where they differ.
    const matches = given.flatMap((one) => known.map((token) => timingSafeEqual(token, one)));
    if (matches.includes(true)) return;
    throw new RejectedDelivery(401, "A valid token is required", {
      "WWW-Authenticate": 'Bearer realm="notifications"',
      Connection: "close",
    });
  };
}

function givenTokens(headers: Headers): readonly string[] {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "") ?? [];
  const header = headers["x-auth-token"];
  return [bearer, header].filter((token) => typeof token === "string");
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
