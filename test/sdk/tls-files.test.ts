import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { pemFault, readTlsFiles } from "../../core/sdk/index.js";
import { selfSigned } from "../support/certificates.js";

const [own, other] = [selfSigned("deneb"), selfSigned("other")];
const encrypted = createPrivateKey(own.key)
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
  .toString();
const binary = new X509Certificate(own.cert).raw;

const usable = [
  { title: "nothing", files: {} },
  { title: "authorities alone", files: { ca: own.cert } },
  {
    title: "several authorities with text between them",
    files: { ca: `# one\n${own.cert}\n# another\n${other.cert}` },
  },
  { title: "a certificate with its key", files: { ca: other.cert, cert: own.cert, key: own.key } },
  { title: "the same as bytes", files: { cert: Buffer.from(own.cert), key: Buffer.from(own.key) } },
];

for (const { title, files } of usable)
  test(`${title} can be used for TLS`, () => {
    assert.equal(pemFault(files), undefined);
  });

const noCertificate = /no certificate in PEM \(-----BEGIN CERTIFICATE-----\), or a broken one$/;
const noKey = /no key in PEM \(-----BEGIN PRIVATE KEY-----\), or one that cannot be used/;

const faults = [
  { title: "an empty file of authorities", files: { ca: "" }, file: "ca", says: noCertificate },
  { title: "authorities in a binary form", files: { ca: binary }, file: "ca", says: noCertificate },
  { title: "a key in place of authorities", files: { ca: own.key }, file: "ca", says: noCertificate },
  {
    title: "half a certificate",
    files: { cert: own.cert.slice(0, 300), key: own.key },
    file: "cert",
    says: noCertificate,
  },
  { title: "a text that is no key", files: { cert: own.cert, key: "hello" }, file: "key", says: noKey },
  { title: "a certificate in place of its key", files: { cert: own.cert, key: own.cert }, file: "key", says: noKey },
  {
    title: "an encrypted key",
    files: { cert: own.cert, key: encrypted },
    file: "key",
    says: /passphrase.*openssl pkey/,
  },
  {
    title: "another key",
    files: { cert: own.cert, key: other.key },
    file: "key",
    says: /not the key of the certificate/,
  },
] as const;

for (const { title, files, file, says } of faults)
  test(`${title} is named with what to do, before anything connects`, async () => {
    const fault = pemFault(files);
    assert.equal(fault?.file, file);
    assert.match(fault?.reason ?? "", says);

    const contents: Readonly<Record<string, unknown>> = files;
    const named = (part: string) => (contents[part] === undefined ? "" : part);
    const config = {
      tls_ca_file: named("ca"),
      tls_cert_file: named("cert"),
      tls_key_file: named("key"),
      tls_verify: true,
    };
    await assert.rejects(
      readTlsFiles(config, 'sink "s"', async (path) => contents[path]),
      {
        code: "CERTIFICATE_UNREADABLE",
        retryable: false,
        message: `starting sink "s": reading the file "${file}" of its property "tls_${file}_file": ${fault?.reason}`,
      },
    );
  });
