import { execFile } from "node:child_process";
import path from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { tempFolder } from "./temp-folder.js";

/** Files of a certificate that signs itself. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for the time of a test, by default for 127.0.0.1; skips the test where openssl is not installed. */
export async function certificate(context: TestContext, name = "IP:127.0.0.1"): Promise<Certificate | undefined> {
  const folder = await tempFolder(context);
  const files = { cert: path.join(folder, "cert.pem"), key: path.join(folder, "key.pem") };
  const what = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const whose = ["-subj", "/CN=deneb", "-addext", `subjectAltName=${name}`];
  try {
    await promisify(execFile)("openssl", [...what, ...whose, "-keyout", files.key, "-out", files.cert]);
    return files;
  } catch {
    context.skip("needs openssl");
    return undefined;
  }
}
