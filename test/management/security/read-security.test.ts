import assert from "node:assert/strict";
import { test } from "node:test";
import { checkTls, readSecurity } from "../../../core/management/security/read-security.js";
import { AgentError } from "../../../core/sdk/index.js";
import { selfSigned } from "../../support/certificates.js";

const settings = {
  managementReadTokens: [],
  managementReadTokensFile: "",
  managementAdminTokens: [],
  managementAdminTokensFile: "",
  managementTlsKey: "",
  managementTlsCertificate: "",
  managementTlsClientCa: "",
  brokerTargets: [],
};
const files = new Map([
  ["tokens", "one\ntwo\n"],
  ["empty", "\n"],
  ["key.pem", "k"],
  ["cert.pem", "c"],
  ["ca.pem", "a"],
]);
const readFile = (path: string): string => {
  const content = files.get(path);
  if (content === undefined) throw new Error(`no such file: ${path}`);
  return content;
};

const targetCases = [
  { given: {}, expected: [] },
  { given: { managementAdminTokens: ["t"] }, expected: [] },
  { given: { brokerTargets: ["orion"] }, expected: ["orion"] },
  { given: { brokerTargets: ["*"] }, expected: ["*"] },
] as const;

for (const { given, expected } of targetCases)
  test(`with ${JSON.stringify(given)} the brokers that calls are allowed to are [${expected}]`, () => {
    assert.deepEqual(readSecurity({ ...settings, ...given }, readFile).brokerTargets, expected);
  });

test("tokens of the environment and of a file count together", () => {
  const given = { ...settings, managementReadTokens: ["zero"], managementReadTokensFile: "tokens" };

  const { read, admin } = readSecurity(given, readFile).tokens;
  assert.deepEqual({ read, admin }, { read: ["zero", "one", "two"], admin: [] });
});

test("a PEM file that no server can use is rejected with the option that names it", () => {
  const { key, cert } = selfSigned("deneb");

  for (const [tls, option] of [
    [{ key: "no key", cert, ca: undefined }, "--management-tls-key"],
    [{ key, cert: "no certificate", ca: undefined }, "--management-tls-certificate"],
    [{ key, cert, ca: "no certificate" }, "--management-tls-client-ca"],
  ] as const)
    assert.throws(
      () => checkTls(tls),
      (error) =>
        error instanceof AgentError &&
        error.code === "TLS_UNUSABLE" &&
        error.message.includes(`the file of ${option} cannot be used: it holds no`),
    );
  assert.doesNotThrow(() => checkTls({ key, cert, ca: cert }));
});

const wrongSettings = [
  { given: { managementAdminTokensFile: "empty" }, code: "NO_TOKENS" },
  { given: { managementAdminTokensFile: "missing" }, code: "FILE_UNREADABLE" },
  { given: { managementTlsKey: "key.pem" }, code: "TLS_INCOMPLETE" },
  { given: { managementTlsClientCa: "ca.pem" }, code: "TLS_INCOMPLETE" },
] as const;

for (const { given, code } of wrongSettings)
  test(`${JSON.stringify(given)} does not start, with code ${code}`, () => {
    assert.throws(
      () => readSecurity({ ...settings, ...given }, readFile),
      (error) => error instanceof AgentError && error.code === code,
    );
  });
