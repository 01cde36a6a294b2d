import assert from "node:assert/strict";
import { test } from "node:test";
import { familiesText } from "../../core/metrics/exposition.js";
import { PluginInstruments } from "../../core/metrics/plugin-instruments.js";

function scraped(instruments: PluginInstruments): string {
  return familiesText(instruments.exposed());
}

/** The lines with a value. */
function samples(instruments: PluginInstruments): readonly string[] {
  return scraped(instruments)
    .split("\n")
    .filter((line) => line.startsWith("deneb_plugin_"));
}

test("a counter, a gauge and a histogram appear with their help and the component", () => {
  const instruments = new PluginInstruments();
  const metrics = instruments.of("k1");

  metrics.counter("rows_total", "Rows.").add(2);
  metrics.gauge("open_files", "Files.", ["kind"]).set(-3, { kind: "log" });
  const seconds = metrics.histogram("write_seconds", "Writes.", [0.1, 1], ["table"]);
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value, { table: "room" });

  assert.deepEqual(
    scraped(instruments)
      .trim()
      .split("\n")
      .filter((line) => line !== ""),
    [
      "# HELP deneb_plugin_rows_total Rows.",
      "# TYPE deneb_plugin_rows_total counter",
      'deneb_plugin_rows_total{component="k1"} 2',
      "# HELP deneb_plugin_open_files Files.",
      "# TYPE deneb_plugin_open_files gauge",
      'deneb_plugin_open_files{component="k1",kind="log"} -3',
      "# HELP deneb_plugin_write_seconds Writes.",
      "# TYPE deneb_plugin_write_seconds histogram",
      'deneb_plugin_write_seconds_bucket{le="0.1",component="k1",table="room"} 2',
      'deneb_plugin_write_seconds_bucket{le="1",component="k1",table="room"} 3',
      'deneb_plugin_write_seconds_bucket{le="+Inf",component="k1",table="room"} 4',
      'deneb_plugin_write_seconds_sum{component="k1",table="room"} 7.65',
      'deneb_plugin_write_seconds_count{component="k1",table="room"} 4',
    ],
  );
});

test("what has no labels is 0 before the first event, a histogram with all its buckets", () => {
  const instruments = new PluginInstruments();
  instruments.of("k1").counter("a_total", "A.");
  instruments.of("k1").gauge("b", "B.");
  instruments.of("k1").histogram("c", "C.", [1]);

  const values = samples(instruments).map((line) => line.split(" ").at(-1));

  assert.deepEqual(values, ["0", "0", "0", "0", "0", "0"]);
});

test("components share a name, with the same labels or with others", () => {
  const instruments = new PluginInstruments();
  instruments.of("k1").counter("rows_total", "Rows.", ["table"]).add(1, { table: "a" });
  instruments.of("k2").counter("rows_total", "Lines.", ["file"]).add(2, { file: "b" });
  instruments.of("k3").counter("rows_total", "Rows.").add(3);
  instruments.of("k1").histogram("seconds", "S.", [1]).observe(0.5);
  instruments.of("k2").histogram("seconds", "S.", [2, 4]).observe(3);

  const lines = samples(instruments);

  assert.deepEqual(lines.slice(0, 3), [
    'deneb_plugin_rows_total{component="k1",table="a"} 1',
    'deneb_plugin_rows_total{component="k2",file="b"} 2',
    'deneb_plugin_rows_total{component="k3"} 3',
  ]);
  assert.ok(lines.includes('deneb_plugin_seconds_bucket{le="4",component="k2"} 1'));
});

test("the same name and labels are the same metric, also after a replacement of the component", () => {
  const instruments = new PluginInstruments();
  instruments.of("k1").counter("rows_total", "Rows.").add(1);
  instruments.of("k1").counter("rows_total", "Rows.").add(1);

  assert.deepEqual(samples(instruments), ['deneb_plugin_rows_total{component="k1"} 2']);
});

test("the same labels in another order are the same metric", () => {
  const instruments = new PluginInstruments();
  instruments.of("k1").counter("rows_total", "Rows.", ["a", "b"]).add(1, { a: "x", b: "y" });
  instruments.of("k1").counter("rows_total", "Rows.", ["b", "a"]).add(1, { a: "x", b: "y" });

  assert.deepEqual(samples(instruments), ['deneb_plugin_rows_total{component="k1",a="x",b="y"} 2']);
});

test("the metrics of components that are gone are forgotten, and those of the others stay", () => {
  const instruments = new PluginInstruments();
  instruments.of("gone").gauge("open", "Open.").set(5);
  const stays = instruments.of("stays").gauge("open", "Open.");
  stays.set(6);

  instruments.keep(new Set(["stays"]));
  stays.set(7);

  assert.deepEqual(samples(instruments), ['deneb_plugin_open{component="stays"} 7']);
});

test("a metric has at most 100 combinations of labels; all others are one", () => {
  const instruments = new PluginInstruments();
  const counter = instruments.of("k1").counter("rows_total", "Rows.", ["a", "b"]);
  const histogram = instruments.of("k1").histogram("seconds", "S.", [1], ["a"]);
  for (let at = 0; at < 1000; at += 1) {
    counter.add(1, { a: String(at), b: "x" });
    histogram.observe(at, { a: String(at) });
  }
  counter.add(1, { a: "5", b: "x" });

  const lines = samples(instruments);

  const counted = lines.filter((line) => line.startsWith("deneb_plugin_rows_total{"));
  assert.equal(counted.length, 101);
  assert.ok(counted.includes('deneb_plugin_rows_total{component="k1",a="(other)",b="(other)"} 900'));
  assert.ok(counted.includes('deneb_plugin_rows_total{component="k1",a="5",b="x"} 2'));
  assert.ok(lines.includes('deneb_plugin_seconds_count{component="k1",a="(other)"} 900'));
});

test("hostile labels and values do not break a scrape, and are cut", () => {
  const instruments = new PluginInstruments();
  const metrics = instruments.of('k"1\n');
  const counter = metrics.counter("rows_total", "Rows\n# TYPE x counter", ["table"]);
  for (const table of ['"} 5\ndeneb_up 1', "\\", "x".repeat(1_000_000), "__proto__", "(other)"])
    counter.add(1, { table });
  counter.add(1, { other: "not declared" });
  for (const by of [-1, 0, Number.NaN, Number.POSITIVE_INFINITY]) counter.add(by, { table: "none" });
  metrics.gauge("size", "Size.").set(Number.NaN);
  metrics.histogram("seconds", "S.", [1]).observe(Number.NaN);

  const text = scraped(instruments);

  for (const line of text.split("\n"))
    assert.match(line, /^(|# (HELP|TYPE) deneb_plugin_.*|deneb_plugin_\w+\{.*\} \d+)$/);
  assert.ok(text.length < 3000);
  assert.doesNotMatch(text, /table="none"/);
});

const unusable = [
  { says: "capitals", make: "counter", name: "Rows", why: /"Rows" is not a name/ },
  { says: "no text at all", make: "counter", name: "", why: /"" is not a name/ },
  { says: "a line break", make: "gauge", name: "a\nb", why: /is not a name/ },
  { says: "too many characters", make: "gauge", name: "a".repeat(65), why: /at most 64/ },
  { says: "the label component", make: "counter", name: "a", labels: ["component"], why: /"component" is reserved/ },
  { says: "the label le", make: "counter", name: "a", labels: ["le"], why: /"le" is reserved/ },
  { says: "a label twice", make: "counter", name: "a", labels: ["x", "x"], why: /two of its labels/ },
  { says: "a label that is no name", make: "counter", name: "a", labels: ["x-y"], why: /"x-y" is not a name/ },
  { says: "eleven labels", make: "counter", name: "a", labels: [..."abcdefghijk"], why: /more than 10 labels/ },
  { says: "no bucket", make: "histogram", name: "a", buckets: [], why: /buckets must be 1 to 50 ascending numbers/ },
  { says: "buckets that descend", make: "histogram", name: "a", buckets: [2, 1], why: /ascending/ },
  {
    says: "a bucket without end",
    make: "histogram",
    name: "a",
    buckets: [1, Number.POSITIVE_INFINITY],
    why: /ascending/,
  },
  { says: "the name of a gauge", make: "counter", name: "taken", why: /taken by a gauge; give it another one/ },
  { says: "the name of a part of a histogram", make: "counter", name: "times_count", why: /a part of "times"/ },
  {
    says: "parts with the name of another",
    make: "histogram",
    name: "lone",
    buckets: [1],
    why: /a part of "lone_sum"/,
  },
] as const;
for (const { says, make, name, why, ...more } of unusable) {
  test(`a ${make} with ${says} is refused with the reason`, () => {
    const instruments = new PluginInstruments();
    const before = instruments.of("other");
    before.gauge("taken", "T.");
    before.histogram("times", "T.", [1]);
    before.gauge("lone_sum", "L.");
    const metrics = instruments.of("k1");
    const labels = "labels" in more ? more.labels : [];

    const making = () => {
      if (make === "histogram") return metrics.histogram(name, "Help.", "buckets" in more ? more.buckets : [1], labels);
      return metrics[make](name, "Help.", labels);
    };

    assert.throws(making, (error: Error) => {
      assert.equal(Reflect.get(error, "code"), "METRIC_UNUSABLE");
      assert.match(error.message, why);
      return true;
    });
  });
}

test("no more than 200 metrics are made", () => {
  const metrics = new PluginInstruments().of("k1");
  for (let at = 0; at < 200; at += 1) metrics.counter(`m${at}`, "M.");

  assert.throws(() => metrics.counter("one_more", "M."), { code: "METRIC_UNUSABLE" });
  metrics.counter("m5", "M.").add();
});
