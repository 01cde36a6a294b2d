import assert from "node:assert/strict";
import { test } from "node:test";
import { conversionPattern } from "../../core/logging/conversion-pattern.js";
import { readLogLine } from "../../core/logging/log-record.js";

const line = JSON.stringify({
  level: "warn",
  time: "2026-03-04T05:06:07.008Z",
  component: "rdb.sink",
  events: 2,
  reason: "a b",
  corr: "c1",
  srv: "openiot",
  msg: "batch not stored",
});

const cases = [
  { pattern: "plain text", text: "plain text" },
  { pattern: "%p %c %m%n", text: "WARN rdb.sink batch not stored events=2 reason=a b\n" },
  { pattern: "%level|%logger|%msg|%message", text: cited("WARN|rdb.sink|M|M") },
  { pattern: "%-6p|%6p|%.2p|%-8.3p|", text: "WARN  |  WARN|RN|ARN     |" },
  { pattern: "%c{1}", text: "sink" },
  { pattern: "%X{corr} %X{trans} %X{srv} %X{subsrv}", text: "c1 N/A openiot N/A" },
  { pattern: "%X{correlatorId} %X{transactionId} %X{service} %X{subservice}", text: "c1 N/A openiot N/A" },
  { pattern: "%X{agent} %X{reason} %X{events}", text: "rdb.sink a b 2" },
  { pattern: "%d{yyyy-MM-dd}T%d{HH:mm:ss.SSS'Z'}", text: "2026-03-04T05:06:07.008Z" },
  { pattern: "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}{UTC}", text: "2026-03-04T05:06:07.008Z" },
  { pattern: "%d", text: "2026-03-04T05:06:07,008" },
  {
    pattern: "%d{ISO8601} %d{ABSOLUTE} %d{DATE}",
    text: "2026-03-04T05:06:07,008 05:06:07,008 04 Mar 2026 05:06:07,008",
  },
  { pattern: "%d{EEE d/M/yy h 'o''clock' a}", text: "Wed 4/3/26 5 o'clock AM" },
  { pattern: "100%% %", text: "100% %" },
  { pattern: "op=%M | %C[%L]", text: "op=? | rdb.sink[?]" },
  { pattern: "%y %zz", text: "%y %zz" },
  { pattern: "%99999999999p", text: "WARN".padStart(1000) },
];
for (const { pattern, text } of cases)
  test(`pattern ${pattern}`, () => assert.equal(conversionPattern(pattern)(readLogLine(line)), text));

test("a value with line ends or control characters stays on its line", () => {
  const forged = JSON.stringify({
    level: "info",
    time: "2026-01-01T00:00:00Z",
    component: "x",
    srv: "a\nb\u001b[0m",
    msg: "m\r",
  });

  assert.equal(conversionPattern("%m %X{srv}")(readLogLine(forged)), "m\\r a\\nb\\u001b[0m");
});

test("an entry with a field named component is still one of its logger", () => {
  const text = '{"level":"error","time":"2026-01-01T00:00:00Z","component":"agent","component":"channel","msg":"m"}';

  assert.equal(conversionPattern("%c")(readLogLine(text)), "agent");
});

function cited(text: string): string {
  return text.replaceAll("M", "batch not stored events=2 reason=a b");
}

const hidden = ["\u0085", "\u009b", "\u2028", "\u2029", "\u200f", "\u202e", "\u2066", "\u2069", "\u061c"];

for (const character of hidden) {
  const shown = `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  test(`a value with ${shown} is shown with its escape`, () => {
    const forged = JSON.stringify({ level: "info", time: "2026-03-04T05:06:07.008Z", component: "c", msg: character });

    assert.equal(conversionPattern("%m")(readLogLine(forged)), shown);
  });
}

test("text in any script is written unchanged", () => {
  const words = "caf\u00e9 \u65e5\u672c \u05d0\u05d1 \u0645\u06cc\u200c\u062e \ud83d\udc69\u200d\ud83d\udd27";
  const written = JSON.stringify({ level: "info", time: "2026-03-04T05:06:07.008Z", component: "c", msg: words });

  assert.equal(conversionPattern("%m")(readLogLine(written)), words);
});
