import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Component,
  ComponentState,
  Snapshot,
  Topology,
} from "../../../core/management/page/browser/live/contract.js";
import { EventReader } from "../../../core/management/page/browser/live/event-reader.js";
import { History } from "../../../core/management/page/browser/live/history.js";
import { merged } from "../../../core/management/page/browser/live/merge-patch.js";
import { bytes, duration, rate, settingText, shortCount } from "../../../core/management/page/browser/parts/format.js";
import { visible } from "../../../core/management/page/browser/parts/visible.js";
import { noFilter, scopeOf } from "../../../core/management/page/browser/views/dead-letters/letter-search.js";
import { drawn, found, mostCards } from "../../../core/management/page/browser/views/overview/chosen-components.js";
import { cardHeight, graphOf } from "../../../core/management/page/browser/views/overview/graph-layout.js";

test("a merge patch changes members, removes those that are null, and replaces lists as a whole", () => {
  const document = { a: { b: 1, c: 2 }, list: [1, 2], gone: 1, kept: { x: 1 } };

  const result: unknown = merged(document, { a: { b: 3, d: 4 }, list: [9], gone: null, fresh: { y: null, z: 1 } });

  assert.deepEqual(result, { a: { b: 3, c: 2, d: 4 }, list: [9], kept: { x: 1 }, fresh: { z: 1 } });
  assert.deepEqual(document.a, { b: 1, c: 2 });
});

test("a merge patch with the key __proto__ changes no prototype", () => {
  const result = merged({}, JSON.parse('{"__proto__":{"polluted":1}}'));

  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.deepEqual(Object.keys(result), ["__proto__"]);
});

const streams = [
  { says: "whole", chunks: ["event: a\ndata: 1\n\nevent: b\ndata: 2\n\n"] },
  { says: "byte for byte", chunks: [..."event: a\ndata: 1\n\nevent: b\ndata: 2\n\n"] },
  { says: "with comments and CRLF", chunks: [": hello\n\n", "event: a\r\ndata: 1\r\n\r\n", ":\nevent: b\ndata:2\n\n"] },
] as const;

for (const { says, chunks } of streams)
  test(`the events of a stream are read that comes ${says}`, () => {
    const reader = new EventReader();

    const events = chunks.flatMap((chunk) => reader.take(chunk));

    assert.deepEqual(events, [
      { name: "a", data: "1" },
      { name: "b", data: "2" },
    ]);
  });

const texts = [
  [duration(0), "0 s"],
  [duration(59.6), "1 min"],
  [duration(200), "3 min 20 s"],
  [duration(7500), "2 h 5 min"],
  [duration(86_400 * 12 + 3600), "12 d"],
  [rate(undefined), "–"],
  [rate(0), "0"],
  [rate(0.0123), "0.012"],
  [rate(12.34), "12.3"],
  [rate(123.4), "123"],
  [rate(12_345), "12.3K"],
  [shortCount(9999), "9,999"],
  [shortCount(1_234_567), "1.2M"],
  [bytes(512), "512 B"],
  [bytes(1536), "1.5 KiB"],
  [bytes(1_073_741_824), "1 GiB"],
  [settingText(["a", 1, true]), "a 1 true"],
  [settingText(""), "(empty)"],
] as const;

for (const [text, expected] of texts)
  test(`a number or a value is written as ${expected}`, () => assert.equal(text, expected));

const plugin = { origin: "deneb", stability: "stable" };
const component = (kind: Component["kind"], name: string): Component => ({
  ...{ id: `${kind}:${name}`, kind, name, type: "t", plugin, settings: [], nested: [] },
});

function chain(pairs: number): Topology {
  const numbers = Array.from({ length: pairs }, (_, index) => index);
  return {
    agent: "a",
    revision: 1,
    components: [
      component("source", "s"),
      ...numbers.map((n) => component("channel", `c${n}`)),
      ...numbers.map((n) => component("sink", `k${n}`)),
    ],
    links: numbers.flatMap((n) => [
      { from: "source:s", to: `channel:c${n}` },
      { from: `channel:c${n}`, to: `sink:k${n}` },
    ]),
    groups: [],
  };
}

test("cards of a column do not overlap, links end at the cards, and the sinks of a group stand together", () => {
  const topology = {
    ...chain(5),
    groups: [{ id: "group:g", name: "g", sinks: ["sink:k0", "sink:k4"], processor: component("sink", "g") }],
  };

  const { sources, channels, sinks, frames, fromSources, fromChannels, height } = graphOf(topology);

  for (const column of [sources, channels, sinks]) {
    const tops = column.map(({ top }) => top).sort((one, other) => one - other);
    assert.ok(tops.every((top, index) => index === 0 || top - (tops[index - 1] ?? 0) >= cardHeight));
    assert.ok(tops.every((top) => top >= 0 && top + cardHeight <= height));
  }
  assert.deepEqual(
    sinks.slice(0, 2).map(({ component: { name } }) => name),
    ["k0", "k4"],
  );
  assert.equal(frames.length, 1);
  assert.equal(fromSources.length, 5);
  assert.equal(fromChannels.length, 5);
});

test("of many components those in trouble are drawn first, with what they are linked with", () => {
  const topology = chain(400);
  const state = (health: ComponentState["health"]): ComponentState => ({ status: "START", setup_time: "", health });
  const states = { "sink:k399": state("down"), "sink:k7": state("degraded") };

  const inOrder = found(topology.components, states, { text: "", troubled: false });
  const part = drawn(topology, inOrder);

  const names = new Set(part.components.map(({ id }) => id));
  assert.deepEqual(
    inOrder.slice(0, 2).map(({ id }) => id),
    ["sink:k399", "sink:k7"],
  );
  assert.ok(["sink:k399", "channel:c399", "sink:k7", "channel:c7", "source:s"].every((id) => names.has(id)));
  assert.ok(part.components.filter(({ kind }) => kind === "sink").length <= mostCards);
  assert.ok(part.links.every(({ from, to }) => names.has(from) && names.has(to)));
});

test("a search finds by name, kind and type in any letter case, or only what is not up", () => {
  const { components } = chain(12);
  const states = { "sink:k3": { status: "ERROR", setup_time: "", health: "down" } } as const;
  const ids = (text: string, troubled = false) => found(components, states, { text, troubled }).map(({ id }) => id);

  assert.deepEqual(ids("K11"), ["sink:k11"]);
  assert.deepEqual(ids("source"), ["source:s"]);
  assert.deepEqual(ids("", true), ["sink:k3"]);
  assert.deepEqual(ids("nothing"), []);
});

const moments = [
  { says: "of five minutes", seconds: [0, 1, 301], kept: [1, 301] },
  { says: "of the clock as it is after it was set back", seconds: [100, 101, 50, 51], kept: [50, 51] },
  { says: "once for each moment", seconds: [1, 1, 2], kept: [1, 2] },
] as const;

for (const { says, seconds, kept } of moments)
  test(`the charts have samples ${says}`, () => {
    const history = new History();

    for (const second of seconds) history.add(snapshotAt(second, 1));

    assert.deepEqual(
      history.of().map(({ time }) => time / 1000),
      kept,
    );
  });

test("a component has no samples any more when the agent has too many components for them", () => {
  const history = new History();
  history.add(snapshotAt(1, 150));
  const before = history.of("sink:0").length;

  history.add(snapshotAt(2, 151));

  assert.deepEqual([before, history.of("sink:0").length, history.of().length], [1, 0, 2]);
});

function snapshotAt(second: number, sinks: number): Snapshot {
  const time = new Date(second * 1000).toISOString();
  const state = { status: "START", setup_time: time, health: "up" } as const;
  const components = Object.fromEntries(Array.from({ length: sinks }, (_, at) => [`sink:${at}`, state]));
  return { time, agent: { name: "a", revision: 1, ready: true }, components, dead_letters: {} };
}

const hidden = [
  ["a line\n\tand plain ÄÖ 漢 👩‍👩‍👧", "a line\n\tand plain ÄÖ 漢 👩‍👩‍👧"],
  ["urn:\u202egpj.exe\u2066:1", "urn:\\u202egpj.exe\\u2066:1"],
  ["\u001b[31mred\u0000\u0085", "\\u001b[31mred\\u0000\\u0085"],
  ["\u200b\u2060\ufeff\u00ad\u2028", "\\u200b\\u2060\\ufeff\\u00ad\\u2028"],
  ["urn\u{e0041}:\u3164\u115f\u206a\ufffb\u180e\u034f", "urn\\u{e0041}:\\u3164\\u115f\\u206a\\ufffb\\u180e\\u034f"],
  [
    "Ro\u200dom\u200c1\ufe0f می\u200cخواهم क्\u200dष 🏳\ufe0f\u200d🌈 👍🏽",
    "Ro\\u200dom\\u200c1\\ufe0f می\u200cخواهم क्\u200dष 🏳\ufe0f\u200d🌈 👍🏽",
  ],
  [`a${"\u0301".repeat(300)}b`, `a${"\u0301".repeat(8)}…b`],
] as const;

for (const [text, shown] of hidden)
  test(`of ${JSON.stringify(text).slice(0, 30)} nothing is hidden`, () => {
    assert.equal(visible(text), shown);
  });

test("what would be dropped is said in words, also that nothing restricts it", () => {
  assert.equal(
    scopeOf({ ...noFilter, since: "2026-01-01T00:00", service: "rooms" }),
    "Those with service rooms, kept since 2026-01-01T00:00.",
  );
  assert.equal(scopeOf(noFilter), "The search restricts nothing: these are all dead letters.");
});
