// For HEALTHCHECK: exit code 0 when the management interface of this container answers 2xx at the path, else 1.
// node health.mjs [/live | /ready] [file with the command line of the agent, as in /proc]
import { readFileSync } from "node:fs";
import { request as plain } from "node:http";
import { request as secure } from "node:https";
import { parseArgs } from "node:util";
import { takenOver } from "./environment.mjs";

const OPTIONS = {
  "management-host": { type: "string" },
  "management-port": { type: "string", short: "p" },
  "management-tls-certificate": { type: "string" },
};

const [path = "/live", commandLine = "/proc/1/cmdline"] = process.argv.slice(2);
// The port of the agent may have the name that it has in images of the predecessor. Options go before the environment.
const env = { ...process.env, ...takenOver(process.env, false).variables, ...optionsOf(commandLine) };
const isTls = Boolean(env["DENEB_MANAGEMENT_TLS_CERTIFICATE"]);

// An interface that listens on every address listens on loopback too.
const given = env["DENEB_MANAGEMENT_HOST"] ?? "";
const host = { "": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1" }[given] ?? given;

// The certificate is that of this container, for the names that others use.
const tls = isTls ? { rejectUnauthorized: false, cert: file("CLIENT_CERT"), key: file("CLIENT_KEY") } : {};
const port = env["DENEB_MANAGEMENT_PORT"] || 5080;
const call = (isTls ? secure : plain)({ host, port, path, timeout: 4000, ...tls }, (answer) => {
  answer.setEncoding("utf8");
  let text = "";
  answer.on("data", (part) => {
    text += part;
  });
  answer.on("end", () => end(answer.statusCode >= 200 && answer.statusCode < 300, `${answer.statusCode} ${text}`));
});
call.on("timeout", () => end(false, `no answer from ${host}:${port}`));
call.on("error", (error) => end(false, `${host}:${port}: ${error.message}`));
call.end();

/** What the command line of the agent, process 1 of its container, says of its management interface; by names of the environment. */
function optionsOf(file) {
  const { values } = parseArgs({ args: wordsOf(file), options: OPTIONS, strict: false });
  const given = Object.keys(OPTIONS).filter((name) => typeof values[name] === "string");
  return Object.fromEntries(given.map((name) => [`DENEB_${name.toUpperCase().replaceAll("-", "_")}`, values[name]]));
}

function wordsOf(file) {
  try {
    return readFileSync(file, "utf8").split("\0").slice(0, -1);
  } catch {
    return [];
  }
}

function file(name) {
  const path = env[`DENEB_MANAGEMENT_${name}`];
  return path ? readFileSync(path) : undefined;
}

function end(isWell, text) {
  process.stdout.write(`${text.trim().slice(0, 2000)}\n`);
  process.exit(isWell ? 0 : 1);
}
