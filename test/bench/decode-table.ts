import type { DecodeForm } from "./decode-forms.js";
import type { MeasuredForm, Times } from "./decode-measure.js";
import { median } from "./statistics.js";

/** The figures as a Markdown table; the cheapest is that of the common forms which takes the least time for a byte. */
export function decodeTable(measured: readonly MeasuredForm[]): string {
  const common = measured.filter(({ form }) => form.isCommon);
  const cheapest = Math.min(...common.map(({ form, decode: [own = []] }) => perByte(own, form)));
  const rows = measured.map(({ form, parse, decode: [own = [], other] }) => [
    form.name,
    Math.round(bytesOf(form)).toLocaleString("en-US"),
    perByte(parse, form).toFixed(2),
    perByte(own, form).toFixed(2),
    spread(own),
    (median(own) / median(parse)).toFixed(2),
    form.isCommon ? (perByte(own, form) / cheapest).toFixed(2) : "",
    other === undefined ? "" : spread(other),
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const head = [
  "form",
  "bytes",
  "JSON.parse ns/byte",
  "ns/byte",
  "µs",
  "to JSON.parse",
  "to the cheapest",
  "other build µs",
];

function perByte(times: Times, form: DecodeForm): number {
  return (median(times) * 1000) / bytesOf(form);
}

function bytesOf({ bodies }: DecodeForm): number {
  return bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0) / bodies.length;
}

function spread(times: Times): string {
  const digits = median(times) < 100 ? 1 : 0;
  const [middle, least, most] = [median(times), Math.min(...times), Math.max(...times)].map((time) =>
    time.toFixed(digits),
  );
  return `${middle} (${least}-${most})`;
}
