import { createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { TlsMaterial } from "../../core/management/security/read-security.js";

/** A new certificate that signs itself, for 127.0.0.1 and localhost; it is its own CA. It expires in a hundred years, or when told. */
export function selfSigned(commonName: string, expires?: Date): TlsMaterial & { readonly ca: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const name = sequence(set(sequence(oid(2, 5, 4, 3), der(0x0c, Buffer.from(commonName)))));
  const algorithm = sequence(oid(1, 2, 840, 10_045, 4, 3, 2));
  const body = sequence(
    der(0xa0, integer(2)),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name,
    sequence(time("20200101000000Z"), time(expires === undefined ? "21200101000000Z" : generalized(expires))),
    name,
    createPublicKey(publicKey.export({ type: "spki", format: "pem" })).export({ type: "spki", format: "der" }),
    der(0xa3, sequence(basicConstraints, subjectAlternativeNames)),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const cert = `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64").replaceAll(/.{64}/g, "$&\n").trimEnd()}\n-----END CERTIFICATE-----\n`;
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert, ca: cert };
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function set(content: Buffer): Buffer {
  return der(0x31, content);
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.of(value));
}

function time(text: string): Buffer {
  return der(0x18, Buffer.from(text));
}

function generalized(date: Date): string {
  return date.toISOString().replaceAll(/[-:T]|\.\d+/g, "");
}

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.of(first * 40 + second, ...bytes));
}

const yes = der(0x01, Buffer.of(0xff));
const basicConstraints = sequence(oid(2, 5, 29, 19), yes, der(0x04, sequence(yes)));
const subjectAlternativeNames = sequence(
  oid(2, 5, 29, 17),
  der(0x04, sequence(der(0x87, Buffer.of(127, 0, 0, 1)), der(0x82, Buffer.from("localhost")))),
);
