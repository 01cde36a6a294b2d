#!/usr/bin/env node
// The first process of a container: takes over variables of the images of the predecessor, then is the agent itself, so that
// signals need no forwarding.
import { readFileSync } from "node:fs";
import { takenOver } from "./environment.mjs";

// The system ends no process with number 1; until the agent listens for a signal, it would be lost.
const signals = process.pid === 1 ? Object.entries({ SIGINT: 2, SIGTERM: 15 }) : [];
for (const [signal, number] of signals) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + number);
  });
}

const { variables, stoodFor, notices } = takenOver(process.env, usesVariablesOfTheImage(process.argv));
Object.assign(process.env, variables);
// The agent would warn of names that it does not read.
for (const name of stoodFor) delete process.env[name];
for (const notice of notices) process.stderr.write(`notice: ${notice}\n`);
await import("./dist/core/main.js");

/** Whether the properties file is the one of the image, or a copy of it: others have the database in themselves. */
function usesVariablesOfTheImage(argv) {
  const at = argv.findIndex((word) => /^(--config|-f)$/.test(word));
  const given = argv.find((word) => word.startsWith("--config="))?.slice("--config=".length);
  const file = given ?? (at < 0 ? "/etc/deneb/agent.properties" : argv[at + 1]);
  try {
    return readFileSync(file, "utf8").includes("${env:AGENT_RDB_DIALECT");
  } catch {
    return false;
  }
}
