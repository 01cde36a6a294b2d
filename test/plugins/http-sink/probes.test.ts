import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { examiner } from "../../../core/agent/examination/examiner.js";
import { ProbeRuns } from "../../../core/agent/examination/probe-runs.js";
import type { HttpSinkConfig } from "../../../plugins/http-sink/config.js";
import { httpProbes } from "../../../plugins/http-sink/probes.js";
import { selfSigned } from "../../support/certificates.js";
import { tempFolder } from "../../support/temp-folder.js";
import { receiver, type Script, sinkConfig } from "./receiver.js";

async function probed(config: Partial<HttpSinkConfig>) {
  const runs = new ProbeRuns({ milliseconds: 30_000, atOnce: 1, running: undefined });
  const by = examiner({ now: () => new Date("2026-01-01") });
  const probes = httpProbes({ ...sinkConfig, ...config }, "h", by);
  const findings = await runs.all({ component: "h", kind: "sink", type: "http" }, probes);
  return findings.map(({ outcome, reason = "", remedy = "" }) => ({ outcome, reason, remedy }));
}

const answering =
  (status: number): Script =>
  (response) =>
    response.writeHead(status).end();

const answers = [
  { status: 204, outcome: "ok", reason: "answered 204" },
  { status: 405, outcome: "ok", reason: "answered 405; whether it takes data only a request with data shows" },
  { status: 401, outcome: "warning", reason: "answered 401" },
  { status: 503, outcome: "warning", reason: "answered 503" },
] as const;

for (const { status, outcome, reason } of answers)
  test(`a server that answers ${status} to HEAD is: ${outcome}; nothing is posted`, async (context: TestContext) => {
    const { url, requests } = await receiver(context, answering(status));

    const [connected, asked] = await probed({ url: `${url}/path`, bearer_token: "sesame" });

    assert.equal(connected?.outcome, "ok");
    assert.deepEqual([asked?.outcome, asked?.reason], [outcome, reason]);
    assert.deepEqual(
      requests.map(({ method, headers }) => [method, headers.authorization]),
      [["HEAD", "Bearer sesame"]],
    );
  });

test("a url that depends on the event is only connected to", async (context) => {
  const { url, requests } = await receiver(context);

  const findings = await probed({ url: `${url}/{{entity.id}}` });

  assert.deepEqual(
    findings.map(({ outcome }) => outcome),
    ["ok"],
  );
  assert.deepEqual(requests, []);
});

test("a certificate is verified as asked, and its end is said", async (context) => {
  const tls = selfSigned("localhost");
  const { url } = await receiver(context, undefined, { cert: Buffer.from(tls.cert), key: Buffer.from(tls.key) });
  const ca = path.join(await tempFolder(context), "ca.pem");
  await writeFile(ca, tls.ca);

  const [strange, skipped] = await probed({ url });
  const [trusted] = await probed({ url, tls_ca_file: ca });
  const [unchecked] = await probed({ url, tls_verify: false });
  const [missing] = await probed({ url, tls_ca_file: `${ca}.none` });

  assert.deepEqual([strange?.outcome, skipped?.outcome], ["failed", "skipped"]);
  assert.match(strange?.reason ?? "", /self-signed certificate/);
  assert.deepEqual(trusted, {
    outcome: "ok",
    reason: "TLSv1.3; the certificate is valid until 2120-01-01",
    remedy: "",
  });
  assert.match(unchecked?.reason ?? "", /^TLSv1\.3, not verified \(tls_verify = false\)/);
  assert.match(missing?.reason ?? "", /reading the file ".*none" of its property "tls_ca_file" \(ENOENT\)/);
});
