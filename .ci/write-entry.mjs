// Writes dist/core/main.js: the check of the version of Node, then what loads the program. An old Node stops at syntax and modules that
// it does not know before it runs anything, so the entry is text that all of them can read, and the compiler has no part in it.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";

const check = readFileSync(new URL("../core/check-node.js", import.meta.url), "utf8");
const entry = new URL("../dist/core/main.js", import.meta.url);

// `import()` in a text, because Node 8 cannot parse it. Node opens its debugger on SIGUSR1, for every process of the
// machine, unless somebody listens. SIGHUP asks an agent to reload, and must not end one that is still being loaded; one that is asked
// to stop before it listens itself has nothing to put in order; the start of the image listens already. A worker has a supervisor that
// knows how it ended.
const load = `if (!isNodeTooOld) {
  process.on("SIGUSR1", function () {});
  if (process.argv[2] === "run") {
    process.on("SIGHUP", function () {});
    if (process.send === undefined)
      ["SIGINT", "SIGTERM"].forEach(function (name) {
        var before = process.listenerCount(name);
        process.on(name, function () {
          if (process.listenerCount(name) === before + 1) process.exit(0);
        });
      });
  }
  Function("specifier", "return import(specifier)")("./entry/entry.js");
}
`;

writeFileSync(entry, `#!/usr/bin/env node\n${check}${load}`);
chmodSync(entry, 0o755);
