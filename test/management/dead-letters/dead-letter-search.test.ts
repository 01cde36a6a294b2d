import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import type { DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { until } from "../../support/until.js";
import { deadLetter, serve } from "./dead-letters.js";

interface Shown {
  readonly id: string;
}

const ids = (body: { readonly deadletters: readonly Shown[] }) => body.deadletters.map(({ id }) => id);

/** Letter n, of a second of its own. */
const numbered = (n: number, more: Partial<DeadLetter> = {}): DeadLetter => ({
  ...deadLetter(`l${n}`),
  time: new Date(Date.parse("2026-01-15T10:00:00.000Z") + n * 1000).toISOString(),
  event: { headers: { "fiware-service": `service${n % 2}` }, body: { id: `urn:${n}`, type: n > 2 ? "Room" : "Car" } },
  ...more,
});

const kept = [
  numbered(1, { code: "A", message: "value out of Range" }),
  numbered(2, { code: "B", reason: "retries-exhausted" }),
  numbered(3, { code: "A" }),
  numbered(4, { sink: "other", code: "A" }),
];

async function keepAll(letters: DeadLetters): Promise<void> {
  for (const letter of kept) await letters.keep([letter]);
}

const searches = [
  { query: "", found: ["l3", "l2", "l1", "l4"] },
  { query: "?sink=k1", found: ["l3", "l2", "l1"] },
  { query: "?code=A", found: ["l3", "l1", "l4"] },
  { query: "?type=Room", found: ["l3", "l4"] },
  { query: "?service=service1&sink=k1", found: ["l3", "l1"] },
  { query: "?reason=retries-exhausted", found: ["l2"] },
  { query: "?entity=urn:4", found: ["l4"] },
  { query: "?text=OUT%20OF%20range", found: ["l1"] },
  { query: "?since=2026-01-15T10:00:02Z&until=2026-01-15T10:00:03Z", found: ["l3", "l2"] },
  { query: "?code=C", found: [] },
];

for (const { query, found } of searches)
  test(`search${query} finds ${found.join(", ") || "nothing"}, the newest of each sink first`, async (context) => {
    const { call, deadLetters } = await serve(context);
    await keepAll(deadLetters);

    const { status, body } = await call("GET", `/search${query}`);

    assert.deepEqual([status, ids(body), body.complete, body.next], [200, found, true, undefined]);
  });

test("searches are made one after another, and none for a caller that has left", async (context) => {
  const { call, port, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a")]);
  const search = deadLetters.search.bind(deadLetters);
  let begun = 0;
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  deadLetters.search = async (...page) => {
    begun += 1;
    await held;
    return await search(...page);
  };

  const first = call("GET", "/search");
  await until(async () => begun, Boolean);
  const leaving = connect(port, "127.0.0.1");
  leaving.write("GET /v1/admin/deadletters/search HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await call("GET", "");
  const last = call("GET", "/search");
  await call("GET", "");
  const together = begun;
  leaving.destroy();
  await call("GET", "");
  letGo();
  const answers = await Promise.all([first, last]);

  assert.equal(together, 1);
  assert.deepEqual(
    answers.map(({ body }) => ids(body)),
    [["a"], ["a"]],
  );
  assert.equal(begun, 2);
});

test("a search shows of a letter what the list shows, and no event", async (context) => {
  const { call, deadLetters } = await serve(context);
  await keepAll(deadLetters);

  const { body } = await call("GET", "/search?entity=urn:1");

  assert.deepEqual(body.deadletters, [
    {
      id: "l1",
      time: "2026-01-15T10:00:01.000Z",
      sink: "k1",
      reason: "permanent",
      code: "A",
      message: "value out of Range",
      attempts: 1,
      state: "waiting",
      service: "service1",
      entityId: "urn:1",
      entityType: "Car",
    },
  ]);
});

const disturbances: readonly {
  readonly what: string;
  readonly disturb: (letters: DeadLetters) => Promise<unknown>;
  readonly gone?: readonly string[];
}[] = [
  { what: "nothing happens", disturb: async () => {} },
  { what: "letters are kept", disturb: (letters) => letters.keep([numbered(90), numbered(91)]) },
  { what: "letters are stored", disturb: (letters) => letters.mark("k1", ["l10", "l5"], "stored"), gone: ["l5"] },
  {
    what: "the file is rewritten without the last letter of the page",
    disturb: async (letters) => {
      await letters.mark("k1", ["l7", "l3"], "dropped");
      await letters.compact("k1");
    },
    gone: ["l3"],
  },
  {
    what: "a letter fails again and comes behind the others",
    disturb: async (letters) => {
      await letters.mark("k1", ["l9"], "replaying");
      await letters.keep([numbered(95, { id: "l9" })]);
    },
  },
];

for (const { what, disturb, gone = [] } of disturbances)
  test(`pages leave no letter out that was there all the time, and show none twice, when between them ${what}`, async (context) => {
    const { call, deadLetters } = await serve(context);
    for (let n = 1; n <= 11; n += 1) await deadLetters.keep([numbered(n)]);

    const first = await call("GET", "/search?limit=5");
    await disturb(deadLetters);
    const pages = [first.body];
    for (let next = first.body.next; next !== undefined; next = pages.at(-1)?.next)
      pages.push((await call("GET", `/search?limit=5&cursor=${next}`)).body);

    const all = pages.flatMap(ids);
    const wanted = Array.from({ length: 11 }, (_, n) => `l${11 - n}`).filter((id) => !gone.includes(id));
    assert.deepEqual(ids(first.body), ["l11", "l10", "l9", "l8", "l7"]);
    assert.deepEqual(all, wanted);
  });

test("of a letter that failed again only the latest version is shown, on any page", async (context) => {
  const { call, deadLetters } = await serve(context);
  for (let n = 1; n <= 3; n += 1) await deadLetters.keep([numbered(n)]);
  await deadLetters.mark("k1", ["l2"], "replaying");
  await deadLetters.keep([numbered(9, { id: "l2", message: "failed again" })]);

  const pages = [(await call("GET", "/search?limit=1")).body];
  for (let next = pages[0].next; next !== undefined; next = pages.at(-1)?.next)
    pages.push((await call("GET", `/search?limit=1&cursor=${next}`)).body);

  assert.deepEqual(pages.flatMap(ids), ["l2", "l3", "l1"]);
  assert.deepEqual([pages[0].deadletters[0].message, pages[0].deadletters[0].replays], ["failed again", 1]);
});

const wrong = [
  { query: "?cursor=x", error: /cursor is the next of an answer/ },
  { query: "?cursor=WzEsMl0", error: /cursor is the next of an answer/ },
  { query: "?limit=-1", error: /limit is a whole number/ },
  { query: "?until=soon", error: /until "soon" is no time/ },
  { query: "?code=", error: /code has no value/ },
  { query: "?offset=1", error: /Unknown parameter offset/ },
];

for (const { query, error } of wrong)
  test(`search${query} is answered 400`, async (context) => {
    const { call } = await serve(context);

    const { status, body } = await call("GET", `/search${query}`);

    assert.equal(status, 400);
    assert.match(body.error, error);
  });

test("a cursor that points anywhere else finds letters, and no others", async (context) => {
  const { call, deadLetters } = await serve(context);
  await keepAll(deadLetters);
  const forged = (offset: number) => Buffer.from(JSON.stringify(["k1", offset, "l3", "never"])).toString("base64url");

  const answers = await Promise.all(
    [0, 1, 300, 10 ** 12].map((offset) => call("GET", `/search?cursor=${forged(offset)}`)),
  );

  for (const { status } of answers) assert.equal(status, 200);
});
