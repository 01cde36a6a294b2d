import { after, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { browserFlags, browserOfRun, chromiumProgram } from "./chromium-program.js";

/** A page in a browser, and what went wrong in it. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors and warnings that its console has, and exceptions that nothing caught. */
  readonly problems: readonly string[];
}

export interface Opening {
  /** Behind `#/`. */
  readonly view?: string;
  /** The token of the session; the page asks for one without it. */
  readonly token?: string;
  /** Of a profile of its own: for a test that changes more than its page. */
  readonly settings?: BrowserContextOptions;
}

/** Opens the page of an agent. */
export type OpenPage = (managementUrl: string, opening?: Opening) => Promise<OpenedPage>;

/** A test in a real browser, skipped where none is installed. The test files of a run share the browser. */
export function browserTest(name: string, run: (context: TestContext, open: OpenPage) => Promise<void>): void {
  test(name, async (context) => {
    const browser = await sharedBrowser();
    if (browser === undefined) {
      context.skip("needs Chromium");
      return;
    }
    await run(context, (managementUrl, opening) => openPage(context, browser, { managementUrl, ...opening }));
  });
}

let launching: Promise<Browser | undefined> | undefined;

function sharedBrowser(): Promise<Browser | undefined> {
  launching ??= launch();
  return launching;
}

async function launch(): Promise<Browser | undefined> {
  const shared = browserOfRun();
  if (shared !== undefined) return await chromium.connect(shared);
  const executablePath = await chromiumProgram();
  return executablePath === undefined ? undefined : await chromium.launch({ executablePath, args: [...browserFlags] });
}

after(() => closed(async () => (await launching)?.close()));

/** A page that is on its way to another one may never say that it is closed. It ends with the browser, so that no test needs to know. */
const CLOSING_MILLIS = 10_000;

async function closed(close: () => Promise<unknown>): Promise<void> {
  await Promise.race([close(), delay(CLOSING_MILLIS, undefined, { ref: false })]);
}

interface Opened extends Opening {
  readonly managementUrl: string;
}

const usual = { viewport: { width: 1280, height: 900 }, locale: "en-GB" } as const;
let profile: Promise<BrowserContext> | undefined;

/** That of all tests of a file that ask for none of their own. One page stays open in it, so that its window does: a new one is dear. */
function usualProfile(browser: Browser): Promise<BrowserContext> {
  profile ??= browser.newContext(usual).then(async (made) => {
    await made.newPage();
    return made;
  });
  return profile;
}

async function openPage(context: TestContext, browser: Browser, opened: Opened): Promise<OpenedPage> {
  const { managementUrl, view = "", token, settings } = opened;
  const own = settings === undefined ? undefined : await browser.newContext({ ...usual, ...settings });
  const page = await (own ?? (await usualProfile(browser))).newPage();
  context.after(() => closed(() => (own ?? page).close()));
  page.setDefaultTimeout(120_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  if (token !== undefined) {
    await page.addInitScript({ content: `sessionStorage.setItem("deneb.token", ${JSON.stringify(token)})` });
  }
  await page.goto(`${managementUrl}/ui/#/${view}`);
  return { page, problems };
}
