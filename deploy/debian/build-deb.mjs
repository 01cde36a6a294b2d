// Makes deneb_VERSION_ARCH.deb of a built checkout:
//   npm ci && npm run build && node deploy/debian/build-deb.mjs [--out FOLDER] [--version VERSION] [--compression xz|gzip|none]
// Needs dpkg-deb. The package has the files of this machine's architecture.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { copyProductionPackages } from "./production-packages.mjs";

const top = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL("./", import.meta.url));
const architectures = { x64: "amd64", arm64: "arm64" };

const { values } = parseArgs({
  options: { out: { type: "string" }, version: { type: "string" }, compression: { type: "string", default: "xz" } },
});
const { version: own, description } = JSON.parse(readFileSync(path.join(top, "package.json"), "utf8"));
const version = values.version ?? own;
const architecture = architectures[process.arch];
if (architecture === undefined) fail(`there is no package for ${process.arch}; build it on x64 or arm64`);

process.umask(0o022);
const root = mkdtempSync(path.join(tmpdir(), "deneb-deb-"));
const documents = path.join(root, "usr/share/doc/deneb");
try {
  chmodSync(root, 0o755);
  putProgram(path.join(root, "usr/lib/deneb"));
  putSettings();
  putDocuments();
  openToReaders();
  putControl(path.join(root, "DEBIAN"));
  const file = path.join(path.resolve(values.out ?? "."), `deneb_${version}_${architecture}.deb`);
  execFileSync("dpkg-deb", [`-Z${values.compression}`, "--root-owner-group", "--build", root, file], {
    stdio: "ignore",
  });
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** The files of the npm package, its pages where Debian has them, and the packages that it needs. */
function putProgram(home) {
  mkdirSync(home, { recursive: true });
  const packed = mkdtempSync(path.join(tmpdir(), "deneb-pack-"));
  try {
    const options = ["--ignore-scripts", "--silent", "--pack-destination", packed];
    execFileSync("npm", ["pack", ...options], { cwd: top, stdio: "ignore" });
    const [file] = readdirSync(packed);
    execFileSync("tar", ["-xzf", path.join(packed, file), "-C", home, "--strip-components=1", "--no-same-owner"]);
  } finally {
    rmSync(packed, { recursive: true });
  }
  mkdirSync(documents, { recursive: true });
  for (const name of ["docs", "test", "plugins", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "LICENSE"])
    renameSync(path.join(home, name), path.join(documents, name));
  symlinkSync("../../../lib/deneb/config", path.join(documents, "config"));
  // What V8 compiled is of the Node that built this, not of that of Debian.
  rmSync(path.join(home, "dist/bundle/compiled"), { recursive: true, force: true });
  copyProductionPackages(top, home);
  chmodSync(path.join(home, "dist/core/main.js"), 0o755);
  mkdirSync(path.join(root, "usr/bin"), { recursive: true });
  symlinkSync("../lib/deneb/dist/core/main.js", path.join(root, "usr/bin/deneb"));
}

function putSettings() {
  copy(path.join(here, "agent.properties"), path.join(root, "etc/deneb/agent.properties"));
  copy(path.join(top, "config/logging.json"), path.join(root, "etc/deneb/logging.json"));
  copy(path.join(here, "default"), path.join(root, "etc/default/deneb"));
  copy(path.join(top, "deploy/systemd/deneb.service"), path.join(root, "usr/lib/systemd/system/deneb.service"));
}

function putDocuments() {
  copy(path.join(here, "copyright"), path.join(documents, "copyright"));
  writeFileSync(
    path.join(documents, "changelog.gz"),
    gzipSync(readFileSync(path.join(top, "CHANGELOG.md")), { level: 9 }),
  );
  const manual = path.join(root, "usr/share/man/man1");
  mkdirSync(manual, { recursive: true });
  writeFileSync(path.join(manual, "deneb.1.gz"), gzipSync(readFileSync(path.join(here, "deneb.1")), { level: 9 }));
}

/** Copies have the modes of the checkout, which a private umask makes unreadable for the service. */
function openToReaders() {
  execFileSync("chmod", ["-R", "u=rwX,go=rX", root]);
  // It may hold passwords; systemd reads it as root.
  chmodSync(path.join(root, "etc/default/deneb"), 0o640);
}

function putControl(folder) {
  mkdirSync(folder);
  const kibibytes = execFileSync("du", ["-sk", root], { encoding: "utf8" }).split("\t")[0];
  const fields = [
    "Package: deneb",
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: Deneb contributors <contributors@deneb.invalid>",
    `Installed-Size: ${kibibytes}`,
    "Depends: nodejs (>= 20.19), adduser, libc6 (>= 2.18), libgcc-s1",
    // Has the program with which the unit reloads.
    "Recommends: procps",
    "Suggests: postgresql, mariadb-server",
    "Section: net",
    "Priority: optional",
    `Description: ${description.split(":")[0].toLowerCase()}`,
    ` ${description.slice(description.indexOf(":") + 1).trim()}`,
  ];
  writeFileSync(path.join(folder, "control"), `${fields.join("\n")}\n`);
  writeFileSync(
    path.join(folder, "conffiles"),
    "/etc/deneb/agent.properties\n/etc/deneb/logging.json\n/etc/default/deneb\n",
  );
  for (const script of ["postinst", "prerm", "postrm"]) {
    copy(path.join(here, script), path.join(folder, script));
    chmodSync(path.join(folder, script), 0o755);
  }
}

function copy(from, to) {
  cpSync(from, to, { recursive: true });
}

function fail(reason) {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(1);
}
