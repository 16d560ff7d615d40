// Uses a page as a reader does; prints what it found as JSON. node browse.js PAGE CHROMIUM PROFILE SHOTS
const { chromium } = require("playwright-core");
const [page_, chromium_, profile, shots] = process.argv.slice(2);
const quiet = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

(async () => {
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: chromium_, args: quiet, viewport: { width: 1280, height: 800 }, reducedMotion: "no-preference",
  });
  const page = await browser.newPage(), told = { errors: [], requests: [] };
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && told.errors.push(m.text()));
  page.on("pageerror", (e) => told.errors.push(e.message));
  page.on("request", (r) => r.url().startsWith("data:") || told.requests.push(r.url()));
  await page.goto(`file://${page_}`);

  // Every link leads to something on the page.
  told.links = await page.$$eval("a[href]", (links) => links.map((a) => a.getAttribute("href")));
  told.dead = [];
  for (const link of new Set(told.links)) {
    await page.evaluate((to) => { location.hash = to; }, link);
    const top = await page.evaluate((to) => document.getElementById(to.slice(1))?.getBoundingClientRect().top, link);
    const end = await page.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 2);
    if (top === undefined || (Math.abs(top) > 60 && !end)) told.dead.push([link, top]);
  }

  // Every column of every table sorts, both ways.
  told.sorts = await page.evaluate(() => [...document.querySelectorAll("table")].flatMap((table) =>
    [...table.tHead.rows[0].cells].map((head, column) => {
      const values = () => [...table.tBodies[0].rows].map((row) => {
        const cell = row.cells[column];
        return cell.dataset.key ?? cell.textContent;
      });
      const before = values();
      head.firstElementChild.click();
      const up = values(), said = [head.ariaSort];
      head.firstElementChild.click();
      return { before, up, down: values(), said: [...said, head.ariaSort] };
    })));

  // By keyboard: the first stop skips to the results; a column's button obeys Enter.
  await page.reload();
  await page.evaluate(() => { history.replaceState(null, "", location.pathname); scrollTo(0, 0); });
  await page.keyboard.press("Tab");
  told.skip = await page.evaluate(() => document.activeElement.className);
  await page.keyboard.press("Enter");
  told.skipped = await page.evaluate(() => document.activeElement.id);
  await page.locator("#runs thead button").nth(6).focus();
  await page.keyboard.press("Enter");
  told.enter = await page.locator("#runs th[aria-sort]").getAttribute("aria-sort");

  // The theme goes round and is kept.
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  told.themes = [];
  for (let i = 0; i < 3; i++) {
    told.themes.push([await page.textContent("#theme"), await colour()]);
    await page.click("#theme");
  }
  await page.click("#theme");
  await page.click("#theme");
  await page.reload();
  told.kept = [await page.textContent("#theme"), await colour()];
  if (shots) await page.screenshot({ path: `${shots}/dark.png`, fullPage: true });
  await page.click("#theme");
  await page.emulateMedia({ colorScheme: "dark" });
  told.system = await colour();
  await page.emulateMedia({ colorScheme: "light" });

  // Curves by each axis, the paper's rows, the search, the picture.
  const shown = () => page.$$eval("figure[data-axis]", (all) =>
    [...new Set(all.filter((f) => f.checkVisibility()).map((f) => f.dataset.axis))]);
  told.axes = [];
  for (const axis of ["seconds", "updates", "steps"]) {
    await page.check(`input[name=axis][value=${axis}]`);
    told.axes.push([axis, await shown()]);
  }
  const theirs = () => page.$$eval("#tasks tr.paper", (rows) => rows.filter((r) => r.checkVisibility()).length);
  told.theirs = [await theirs()];
  await page.uncheck("#theirs");
  told.theirs.push(await theirs());
  await page.check("#theirs");
  const rows = () => page.$$eval("#runs tbody tr", (all) => all.filter((r) => r.checkVisibility()).length);
  told.rows = [await rows()];
  await page.fill("#filter", "CHEETAH finished");
  told.rows.push(await rows(), await page.textContent("#found"));
  await page.fill("#filter", "");
  const film = () => page.$eval(".film", (f) => [f.querySelector("img").src.length, f.querySelector("button").textContent]);
  told.film = [await film()];
  await page.click(".play");
  told.film.push(await film());
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.reload();
  told.still = await film();
  for (const part of await page.$$("details:not([open]) > summary")) await part.click();
  told.closed = await page.$$eval("details:not([open])", (all) => all.length);

  // Names for screen readers; nothing wider than a phone; print.
  told.nameless = await page.$$eval("button, input, svg[role=img], img, table", (all) => all.filter((e) => !(
    e.textContent.trim() || e.ariaLabel || e.alt || e.labels?.[0]?.textContent.trim() || e.caption)).length);
  if (shots) await page.screenshot({ path: `${shots}/wide.png`, fullPage: true });
  await page.setViewportSize({ width: 390, height: 800 });
  told.phone = await page.evaluate(() => document.documentElement.scrollWidth);
  if (shots) await page.screenshot({ path: `${shots}/phone.png`, fullPage: true });
  told.print = (await page.pdf({ format: "A4", path: shots ? `${shots}/print.pdf` : undefined })).length;
  console.log(JSON.stringify(told));
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
