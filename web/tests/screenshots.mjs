// Pictures of every part of reports: node tests/screenshots.mjs REPORT.html FOLDER [PART..], all parts unless named.
// Light and dark, wide and on a phone; docs/images/report keeps some.
import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { drawEverything, launch, openPage } from "./support.mjs";

const [file, folder, ...parts] = process.argv.slice(2);
const looks = [
  { name: "light", colorScheme: "light", viewport: { width: 900, height: 800 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 900, height: 800 } },
  { name: "phone", colorScheme: "light", viewport: { width: 360, height: 740 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 360, height: 740 } },
].filter((look) => !process.env.LOOKS || process.env.LOOKS.split(",").includes(look.name));
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const { name, ...options } of looks) {
  const { page, context, faults } = await openPage(browser, `file://${resolve(file)}`, options);
  await drawEverything(page);
  for (const section of await page.locator("main > section").all()) {
    const id = await section.getAttribute("id");
    if (parts.length === 0 || parts.includes(id)) {
      await section.scrollIntoViewIfNeeded();
      await section.screenshot({ path: join(folder, `${basename(file, ".html")}-${id}-${name}.png`) });
    }
  }
  if (faults.length > 0) {
    console.error(faults.join("\n"));
    process.exitCode = 1;
  }
  await context.close();
}
await browser.close();
