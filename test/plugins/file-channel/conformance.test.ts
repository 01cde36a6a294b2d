import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { channelConformance } from "../../../core/testing/index.js";
import { tempFolder } from "../../support/temp-folder.js";
import { openIn } from "./channel-folder.js";

// Of a spillable channel with room for n events in memory and m on disk, the capacity is their sum.
const kinds = [
  { title: "file", memoryCapacity: 0 },
  { title: "spillable, one event in memory", memoryCapacity: 1 },
  { title: "spillable, four events in memory", memoryCapacity: 4 },
] as const;

// A percentage above 100 counts the services and limits none: all cases have one service, which fills the channel.
const ways = [
  { way: "", sharing: {} },
  { way: ", services in turn", sharing: { fair_taking: true } },
  { way: ", counted by service", sharing: { service_percentage: 101 } },
] as const;

for (const { title, memoryCapacity, way, sharing } of kinds.flatMap((kind) => ways.map((way) => ({ ...kind, ...way }))))
  test(`${title}${way}: keeps the contract of channels`, async (context) => {
    const folder = await tempFolder(context);
    const cases = channelConformance(async ({ waitSeconds, ...limits }) => {
      const inMemory = Math.min(memoryCapacity, limits.capacity - 1);
      const config = { ...limits, ...sharing, memoryCapacity: inMemory, "keep-alive": waitSeconds };
      return (await openIn(await mkdtemp(path.join(folder, "c-")), config)).channel;
    });
    for (const { name, run } of cases) await context.test(name, run);
  });
