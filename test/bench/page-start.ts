import { parseArgs } from "node:util";
import { type Browser, type CDPSession, chromium } from "playwright-core";
import { browserFlags, chromiumProgram } from "../support/chromium-program.js";
import { loggerSinks, pageAgent } from "../support/page-agent.js";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "11" }, components: { type: "string", default: "3" } },
});
const runs = Number(values.runs);
const endings: (() => unknown)[] = [];

try {
  await measure();
} finally {
  for (const end of endings.reverse()) await end();
}

/** Opens the page with an empty cache in a new browser, again and again, and prints the medians. */
async function measure(): Promise<void> {
  const executablePath = await chromiumProgram();
  if (executablePath === undefined) throw new Error("no Chromium is installed");
  const context = { after: (end: () => unknown) => endings.push(end) };
  const pairs = Math.floor((Number(values.components) - 3) / 2);
  const { agent } = await pageAgent(context, { lines: loggerSinks(pairs) });
  const starts: Start[] = [];
  for (let run = 0; run < runs; run += 1) {
    const browser = await chromium.launch({ executablePath, args: [...browserFlags] });
    starts.push(await start(browser, agent.managementUrl));
    await browser.close();
  }
  const report = (name: keyof Start, unit: string) => {
    const sorted = starts.map((one) => one[name]).sort((one, other) => one - other);
    const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
    console.log(`${name}: median ${at(0.5)} ${unit}, from ${at(0)} to ${at(1)}`);
  };
  console.log(`${values.components} components, ${runs} cold starts`);
  report("firstNumbers", "ms");
  report("liveRates", "ms");
  report("transferred", "bytes");
  report("responses", "files");
  report("busy", "ms of work in each later second");
}

/** Milliseconds, bytes and numbers of one cold start. */
type Start = Readonly<Record<"firstNumbers" | "liveRates" | "transferred" | "responses" | "busy", number>>;

async function start(browser: Browser, url: string): Promise<Start> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  const session = await page.context().newCDPSession(page);
  const traffic = await countFiles(session);
  const begin = performance.now();
  await page.goto(`${url}/ui/`, { waitUntil: "commit" });
  await page.locator(".card.source .number").first().waitFor();
  const firstNumbers = performance.now() - begin;
  await page.locator(".card.source .number:first-child b", { hasText: /\d/ }).first().waitFor();
  const liveRates = performance.now() - begin;
  const before = await taskMillis(session);
  await page.waitForTimeout(5000);
  return { firstNumbers, liveRates, ...traffic, busy: ((await taskMillis(session)) - before) / 5 };
}

/** Bytes on the wire with headers, of the files of the page; not of the stream and the calls. */
async function countFiles(session: CDPSession) {
  const counted = { transferred: 0, responses: 0 };
  const files = new Set<string>();
  await session.send("Network.enable");
  await session.send("Performance.enable");
  session.on("Network.responseReceived", ({ requestId, response }) => {
    if (response.url.includes("/ui/")) files.add(requestId);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (!files.has(requestId)) return;
    counted.transferred += encodedDataLength;
    counted.responses += 1;
  });
  return counted;
}

async function taskMillis(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
}
