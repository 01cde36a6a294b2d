import assert from "node:assert/strict";
import { test } from "node:test";
import { apiFailure, wasFaster } from "../../../plugins/jetstream/log/errors.js";

/** As servers of 2.9 to 2.15 write them. */
const answers = [
  { code: 400, err_code: 10_071, description: "wrong last sequence: 7", faster: true, is: "LOG_SETTINGS" },
  { code: 400, err_code: 10_164, description: "wrong last sequence", faster: true, is: "LOG_SETTINGS" },
  { code: 409, err_code: 10_158, description: "duplicate message id is in process", is: "LOG_UNAVAILABLE" },
  { code: 429, err_code: 10_167, description: "too many requests", is: "LOG_UNAVAILABLE" },
  { code: 503, err_code: 10_163, description: "expected last sequence temporarily unavailable", is: "LOG_UNAVAILABLE" },
  { code: 500, err_code: 10_194, description: "stream is offline: unsupported", is: "LOG_UNAVAILABLE" },
  { code: 503, err_code: 10_076, description: "JetStream not enabled", is: "LOG_SETTINGS" },
  { code: 400, err_code: 10_060, description: "expected stream does not match", is: "LOG_SETTINGS" },
  { code: 503, err_code: 10_077, description: "maximum bytes exceeded", is: "LOG_FULL" },
  { code: 500, err_code: 10_052, description: "duplicates window can not be larger then 30s", is: "LOG_SETTINGS" },
  { code: 400, err_code: 10_113, description: "account requires max bytes set", is: "LOG_SETTINGS" },
  { code: 500, err_code: 10_047, description: "insufficient storage resources available", is: "LOG_FULL" },
  { code: 400, err_code: 10_054, description: "message size exceeds maximum allowed", is: "RECORD_TOO_LARGE" },
] as const;

for (const { is, faster, ...answer } of answers.map((one) => ({ faster: false, ...one })))
  test(`the answer "${answer.description}" (${answer.err_code}) is ${is}${faster ? ", and another agent was faster" : ""}`, () => {
    const { code, message, retryable } = apiFailure("appending", answer);

    assert.deepEqual([code, retryable], [is, is === "LOG_UNAVAILABLE" || is === "LOG_FULL"]);
    assert.match(message, new RegExp(`"${answer.description}" \\(${answer.err_code}\\)`));
    assert.equal(wasFaster(answer), faster);
  });

for (const [err_code, remedy] of [
  [10_027, /remove one, or raise max_streams of the account$/],
  [10_047, /lower the property "max_bytes", or give the account or the servers more storage$/],
  [10_065, /change the property "stream"$/],
  [10_113, /set the property "max_bytes"$/],
  [10_122, /lower the property "max_bytes"$/],
] as const)
  test(`where a stream cannot be made (${err_code}) the error says what to do`, () => {
    assert.match(apiFailure("making", { code: 400, err_code, description: "no" }).message, remedy);
  });
