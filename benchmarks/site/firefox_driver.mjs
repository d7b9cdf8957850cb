// Drives Firefox for engines.py: one line of JSON comes in, one goes out.
// node firefox_driver.mjs FOLDER_OF_PUPPETEER_CORE FIREFOX
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, executablePath] = process.argv.slice(2);
const { default: puppeteer } = await import(pathToFileURL(`${folder}/lib/puppeteer/puppeteer-core.js`));

let browser, page;
let complaints = [];

/** Puppeteer turns this off, and then all pages on the disk share a storage; whoever opens the book has it on. */
const AS_INSTALLED = { "security.fileuri.strict_origin_policy": true };

/** Messages of Firefox about its own doings, not about the page. */
const OWN = [/^Layout was forced before the page was fully loaded/];

function listen() {
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  page.on("console", (said) => {
    if (["error", "warn"].includes(said.type()) && !OWN.some((one) => one.test(said.text()))) complaints.push(`console: ${said.text()}`);
  });
}

const acts = {
  async start() {
    browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, extraPrefsFirefox: AS_INSTALLED, defaultViewport: null, timeout: 120000, protocolTimeout: 300000 });
    page = await browser.newPage();
    listen();
    return browser.version();
  },
  async open({ address }) {
    await page.goto("about:blank"); // else a new fragment alone would load nothing
    complaints = [];
    await page.goto(address, { waitUntil: "load", timeout: 120000 });
  },
  run: ({ script }) => page.evaluate(`(${script})()`),
  async resize({ width, height }) {
    // The size is set; what Firefox's long-term release does not know is the command that turns the screen along with it.
    await page.setViewport({ width, height }).catch((error) => {
      if (!error.message.includes("setScreenOrientationOverride")) throw error;
    });
    await page.waitForFunction(`innerWidth === ${width}`);
  },
  async point({ steps }) {
    for (const [what, x, y] of steps) {
      if (what === "move") await page.mouse.move(x, y);
      else await page.mouse[what]();
    }
  },
  press: ({ key }) => page.keyboard.press(key),
  complaints: () => complaints,
  close: () => browser.close(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: what, ...more } = JSON.parse(line);
  let answer;
  try {
    const value = await acts[what](more);
    answer = { value: value ?? null };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (what === "close") process.exit(0);
}

await browser?.close(); // whoever asked is gone without a farewell
