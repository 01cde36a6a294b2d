import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Certificates } from "../../core/agent/certificates.js";
import type { Part } from "../../core/agent/parts-of.js";
import { ReportedHealth } from "../../core/agent/reported-health.js";
import { definePlugin } from "../../core/sdk/index.js";
import { selfSigned } from "../support/certificates.js";
import { settableClock } from "../support/settable-clock.js";
import { tempFolder } from "../support/temp-folder.js";

const soon = new Date("2031-01-02T03:04:05Z");
const later = new Date("2041-01-02T03:04:05Z");

const plugin = definePlugin({
  kind: "sink",
  type: "wild",
  summary: "S.",
  stability: "beta",
  config: { file: { doc: "F.", format: "text", default: "" } },
  certificates: ({ file }) => {
    if (file === "thrown") throw new Error("a fault of the plugin");
    return [file];
  },
  create: () => {
    throw new Error("is not created");
  },
});

const part = (name: string, file: string): Part => ({
  name,
  definition: plugin,
  config: { file },
  reported: new ReportedHealth(settableClock()),
});

async function pem(context: TestContext, ...expire: readonly Date[]): Promise<string> {
  const file = join(await tempFolder(context), "chain.pem");
  await writeFile(file, expire.map((end) => selfSigned("localhost", end).cert).join("some text\n"));
  return file;
}

test("of a file with several certificates the first to expire counts", async (context) => {
  const file = await pem(context, later, soon);
  const parts = [part("k", file)];
  const certificates = new Certificates(() => parts);

  assert.deepEqual(await certificates.states(), [{ component: "k", path: file, expires: soon }]);
});

test("a file that is replaced counts at the next look, and one that cannot be read now as it was", async (context) => {
  const file = await pem(context, soon);
  const certificates = new Certificates(() => [part("k", file)]);
  certificates.add("management", file);
  const expiries = async () => (await certificates.states()).map(({ expires }) => expires);

  const before = await expiries();
  await writeFile(file, selfSigned("localhost", later).cert);
  const replaced = await expiries();
  await rm(file);
  const gone = await expiries();

  assert.deepEqual(
    [before, replaced, gone],
    [
      [soon, soon],
      [later, later],
      [later, later],
    ],
  );
});

test("what a component that is gone has named counts no more", async (context) => {
  const file = await pem(context, soon);
  let parts = [part("k", file)];
  const certificates = new Certificates(() => parts);
  await certificates.states();

  parts = [];

  assert.deepEqual(await certificates.states(), []);
});

test("what is no certificate, no file or no path has no expiry, and harms nobody", async (context) => {
  const file = await pem(context, soon);
  const junk = join(await tempFolder(context), "junk.pem");
  await writeFile(junk, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const gone = await pem(context, soon);
  await rm(gone);
  const parts = ["", "thrown", junk, gone, file].map((name, at) => part(`k${at}`, name));
  const certificates = new Certificates(() => parts);
  certificates.add("management", await pem(context, later));

  const states = await certificates.states();

  assert.deepEqual(
    states.map(({ component }) => component),
    ["management", "k4"],
  );
});
