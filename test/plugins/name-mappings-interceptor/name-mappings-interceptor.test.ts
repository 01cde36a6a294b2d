import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { entityOf, mappedEvent } from "deneb/ngsi";
import type { Event, Logger } from "deneb/sdk";
import plugin from "../../../plugins/name-mappings-interceptor/index.js";
import { intercepted } from "../../support/intercepted.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const event: Event = {
  headers: { "fiware-service": "svc", "fiware-servicepath": "/", timestamp: "1" },
  body: { id: "e1", type: "T", attributes: [] },
};
const document = (newService: string, newEntityId?: string) =>
  JSON.stringify({
    serviceMappings: [{ newService, servicePathMappings: [{ entityMappings: [{ newEntityId }] }] }],
  });

interface Lines {
  readonly log: Logger;
  /** Waits for the next line with that message. */
  next(message: string): Promise<object>;
}

function waitingLog(): Lines {
  const kept: { readonly fields: object; readonly message: string }[] = [];
  const waiting = new Set<() => void>();
  const write = (fields: object, message: string) => {
    kept.push({ fields, message });
    for (const look of waiting) look();
  };
  const next = (message: string) =>
    new Promise<object>((resolve) => {
      const look = () => {
        const at = kept.findIndex((line) => line.message === message);
        const [line] = at === -1 ? [] : kept.splice(at, 1);
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line.fields);
      };
      waiting.add(look);
      look();
    });
  return { log: { debug: write, info: write, warn: write, error: write }, next };
}

const LOADED = "name mappings loaded";
const BAD = "name mappings file not usable; the mappings stay as they are";

async function started(context: TestContext, text?: string, other?: string) {
  const file = other ?? path.join(await tempFolder(context), "mappings.json");
  if (text !== undefined) await writeFile(file, text);
  const { log, next } = waitingLog();
  const config = { name_mappings_conf_file: file, reload_interval: 10 };
  const interceptor = plugin.create(config, { name: "nmi", log, dataDir: ".", run: "run", now: () => new Date(0) });
  await interceptor.start?.();
  context.after(() => interceptor.stop?.(AbortSignal.timeout(1000)));
  const serviceNow = () => intercepted(interceptor, event)?.headers["mapped-fiware-service"];
  /** Waits for the service of the file: a change may be loaded twice, so that one line says nothing of the next change. */
  const mapsTo = (service: string) =>
    until(
      async () => serviceNow(),
      (now) => now === service,
    );
  return { file, interceptor, next, serviceNow, mapsTo };
}

/** In one step: nobody sees a part of it. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

test("mapped names stand beside the original ones, and survive as JSON", async (context) => {
  const { interceptor } = await started(context, document("ns", "e2"));

  const mapped = intercepted(interceptor, event);

  assert.deepEqual(mapped, {
    headers: { ...event.headers, "mapped-fiware-service": "ns", "mapped-fiware-servicepath": "/" },
    body: { id: "e1", type: "T", attributes: [], mapped: { id: "e2", type: "T", attributes: [] } },
  });
  assert.deepEqual(mappedEvent(JSON.parse(JSON.stringify(mapped))), {
    headers: { ...mapped?.headers, "fiware-service": "ns" },
    body: { id: "e2", type: "T", attributes: [] },
  });
});

test("of several interceptors the last one that maps the service counts, with all of its names", async (context) => {
  const only = (originalService: string, newService: string, newEntityId?: string) =>
    JSON.stringify({
      serviceMappings: [{ originalService, newService, servicePathMappings: [{ entityMappings: [{ newEntityId }] }] }],
    });
  const chained = async (...documents: readonly string[]) => {
    let current: Event = event;
    for (const text of documents) {
      const { interceptor } = await started(context, text);
      current = intercepted(interceptor, current) ?? assert.fail("dropped");
    }
    const { headers, body } = mappedEvent(current);
    return [headers["fiware-service"], entityOf({ headers, body }).id];
  };
  const [first, other] = [only("svc", "one", "e-one"), only("elsewhere", "two", "e-two")];
  const serviceOnly = JSON.stringify({ serviceMappings: [{ newService: "three", servicePathMappings: [] }] });

  assert.deepEqual(await chained(first, other), ["one", "e-one"]);
  assert.deepEqual(await chained(other, first), ["one", "e-one"]);
  assert.deepEqual(await chained(first, serviceOnly), ["three", "e1"]);
});

test("an event that no interceptor mapped is used as it is", () => assert.equal(mappedEvent(event), event));

test("an event that holds no entity passes", async (context) => {
  const { interceptor } = await started(context, document("ns"));
  const other = { headers: {}, body: "text" };

  assert.equal(intercepted(interceptor, other), other);
});

test("a file that changes is read again; a bad one changes nothing and is told", async (context) => {
  const { file, next, serviceNow, mapsTo } = await started(context, document("one"));

  assert.equal(serviceNow(), "one");

  await replace(file, document("two, longer"));
  await mapsTo("two, longer");

  await replace(file, "{");
  assert.match(JSON.stringify(await next(BAD)), /parsing the body as JSON/);
  assert.equal(serviceNow(), "two, longer");

  await rm(file);
  await next("no name mappings file; the mappings stay as they are");
  assert.equal(serviceNow(), "two, longer");

  await replace(file, document("three"));
  await mapsTo("three");
});

test("an interceptor that a reload makes while its file is bad or gone goes on with the mappings of before", async (context) => {
  const { file, next } = await started(context, document("ns"));
  await replace(file, "{");
  await next(BAD);

  const bad = await started(context, undefined, file);
  await bad.next(BAD);
  await rm(file);
  const gone = await started(context, undefined, file);
  await gone.next("no name mappings file; the mappings stay as they are");

  assert.deepEqual([bad.serviceNow(), gone.serviceNow()], ["ns", "ns"]);
});

test("changes that follow each start at once are read, also one of the same length", async (context) => {
  for (const number of [1, 2, 3]) {
    const { file, mapsTo } = await started(context, document(`a${number}`));

    await replace(file, document(`b${number}`));

    await mapsTo(`b${number}`);
  }
});

test("a file that is not there at start is used once it is", async (context) => {
  const { file, next, serviceNow } = await started(context);
  await next("no name mappings file; nothing is mapped");
  assert.equal(serviceNow(), "svc");

  await writeFile(file, document("ns"));
  await next(LOADED);

  assert.equal(serviceNow(), "ns");
});

test("a mapping whose expression does not compile is told and left out", async (context) => {
  const bad = { originalService: "(", newService: "bad" };
  const { next, serviceNow } = await started(
    context,
    JSON.stringify({ serviceMappings: [bad, { newService: "good" }] }),
  );

  const { fault } = Object.fromEntries(Object.entries(await next("a name mapping is left out")));

  assert.match(fault, /^serviceMappings\[0\]: /);
  assert.equal(serviceNow(), "good");
});

test("stop is safe before start and twice", async (context) => {
  const config = { name_mappings_conf_file: path.join(await tempFolder(context), "none.json"), reload_interval: 10 };
  const { log } = waitingLog();
  const interceptor = plugin.create(config, { name: "nmi", log, dataDir: ".", run: "run", now: () => new Date(0) });

  await interceptor.stop?.(AbortSignal.timeout(1000));
  await interceptor.start?.();
  await interceptor.stop?.(AbortSignal.timeout(1000));
  await interceptor.stop?.(AbortSignal.timeout(1000));

  assert.equal(intercepted(interceptor, event)?.headers["mapped-fiware-service"], "svc");
});

test("an empty file name is a fault of the configuration", () => {
  const faults = plugin.check?.({ name_mappings_conf_file: "", reload_interval: 500 });

  assert.deepEqual(
    faults?.map(({ property }) => property),
    ["name_mappings_conf_file"],
  );
});
