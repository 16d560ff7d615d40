// Watches a policy as a reader does; prints what it found as JSON. node browse.js URL CHROMIUM PROFILE SHOTS
const { chromium } = require("playwright-core");
const [url, chromium_, profile, shots] = process.argv.slice(2);
const quiet = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

(async () => {
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: chromium_, args: quiet, viewport: { width: 1280, height: 900 },
  });
  browser.setDefaultTimeout(60000);
  const page = await browser.newPage(), told = { errors: [], requests: [] };
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && told.errors.push(m.text()));
  page.on("pageerror", (e) => told.errors.push(e.message));
  page.on("request", (r) => told.requests.push(r.url()));
  const state = (on = page) => on.evaluate(() => structuredClone(state));
  const until = (test, on = page, arg) => on.waitForFunction(test, arg);
  const frames = (on = page) => on.evaluate(() => Number(document.body.dataset.frames ?? 0));
  const pixels = (on = page) => on.$eval("canvas", (c) => {
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    return { size: [c.width, c.height], colours: new Set(data.filter((_, i) => i % 97 === 0)).size };
  });

  await page.goto(url);
  await until(() => state.time > 0.5);
  told.first = await state();
  const [begin, at] = [await frames(), Date.now()];
  await page.waitForTimeout(3000);
  told.fps = (await frames() - begin) / (Date.now() - at) * 1000;
  told.pixels = await pixels();
  await until(() => state.likeness !== null);
  told.likeness = await page.textContent("#likeness");
  if (shots) await page.screenshot({ path: `${shots}/wide.png`, fullPage: true });

  // Pause holds the time; a step moves it by one; play goes on.
  await page.click("#pause");
  await until(() => state.paused);
  const held = (await state()).time;
  await page.waitForTimeout(500);
  told.held = [held, (await state()).time];
  await page.click("#step");
  await page.waitForFunction((t) => state.time > t, held);
  told.step = (await state()).time - held;

  // A seed begins its own episode, always the same.
  told.seeds = [];
  for (const seed of ["7", "8", "7"]) {
    await page.fill("#seed", seed);
    await page.press("#seed", "Enter");
    await page.waitForFunction((s) => state.seed === s && state.time === 0, Number(seed));
    await page.waitForTimeout(700);
    told.seeds.push(await page.$eval("canvas", (c) => c.toDataURL().length + c.toDataURL().slice(-4000)));
  }
  await page.fill("#seed", "");
  await page.click("#reset");
  await until(() => state.seed === null && state.time === 0);

  // Slower and faster, to the ends.
  told.speeds = [];
  await page.click("#faster");
  await until(() => state.speed === 2);
  told.speeds.push(await page.textContent("#speed"));
  for (const to of [1, 0.5, 0.25, 0.125]) {
    await page.click("#slower");
    await page.waitForFunction((s) => state.speed === s, to);
  }
  told.speeds.push(await page.textContent("#speed"), await page.isDisabled("#slower"));

  // A push, by pointer and by keyboard.
  await page.click("#pause");
  await until(() => !state.paused);
  const box = await (await page.$("#pad")).boundingBox();
  await page.mouse.click(box.x + box.width * 0.9, box.y + box.height / 2);
  await until(() => state.push);
  told.arrow = await page.$eval("#arrow", (a) => [a.hasAttribute("hidden"), Number(a.getAttribute("x2"))]);
  told.push = (await state()).push;
  if (shots) await page.screenshot({ path: `${shots}/push.png`, fullPage: true });
  await until(() => !state.push);
  await page.focus("#pad");
  await page.keyboard.press("ArrowLeft");
  await until(() => state.push);
  told.left = await page.$eval("#arrow", (a) => Number(a.getAttribute("x2")));

  // Several tabs see the same show, more than a browser keeps connections to one place.
  const tabs = [];
  for (let i = 0; i < 7; i++) {
    const tab = await browser.newPage();
    await tab.goto(url);
    await until(() => state.time !== undefined, tab);
    tabs.push(tab);
  }
  await tabs[6].click("#pause");
  await until(() => state.paused);
  for (const tab of tabs) await until(() => state.paused, tab);
  const times = await Promise.all([page, ...tabs].map(async (tab) => (await state(tab)).time));
  told.tabs = new Set(times).size;
  for (const tab of tabs) await tab.close();

  told.nameless = await page.$$eval("button, input, select, svg[role]", (all) => all.filter((e) => !(
    e.textContent.trim() || e.ariaLabel || e.labels?.[0]?.textContent.trim())).length);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  told.phone = await page.evaluate(() => document.documentElement.scrollWidth);
  if (shots) await page.screenshot({ path: `${shots}/phone.png`, fullPage: true });
  console.log(JSON.stringify(told));
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
