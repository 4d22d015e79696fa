// Pictures of every part of reports: node tests/screenshots.mjs REPORT.html FOLDER [PART..], all parts unless named.
// Light and dark, wide and on a phone, as WebP; docs/images/report keeps them.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { drawEverything, launch, openPage } from "./support.mjs";

const [file, folder, ...parts] = process.argv.slice(2);
const looks = [
  { name: "light", colorScheme: "light", viewport: { width: 900, height: 800 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 900, height: 800 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 390, height: 844 } },
].filter((look) => !process.env.LOOKS || process.env.LOOKS.split(",").includes(look.name));
mkdirSync(folder, { recursive: true });
const browser = await launch();

/** A third of what the same picture takes as PNG: the browser itself encodes it. */
const encoder = await browser.newPage();
async function webp(png) {
  const data = await encoder.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.7);
  }, `data:image/png;base64,${png.toString("base64")}`);
  return Buffer.from(data.slice(data.indexOf(",") + 1), "base64");
}

for (const { name, ...options } of looks) {
  const { page, context, faults } = await openPage(browser, `file://${resolve(file)}`, options);
  await drawEverything(page);
  for (const section of await page.locator("main > section").all()) {
    const id = await section.getAttribute("id");
    if (parts.length === 0 || parts.includes(id)) {
      await section.scrollIntoViewIfNeeded();
      writeFileSync(join(folder, `${basename(file, ".html")}-${id}-${name}.webp`), await webp(await section.screenshot()));
    }
  }
  if (faults.length > 0) {
    console.error(faults.join("\n"));
    process.exitCode = 1;
  }
  await context.close();
}
await browser.close();
