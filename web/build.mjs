// Builds the page and writes it as a C++ source: node build.mjs OUTPUT.cpp, or with a folder: the files themselves.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) {
  console.error("usage: node build.mjs OUTPUT.cpp|FOLDER");
  process.exit(2);
}

// Observable Plot puts a <style> into every figure, which a strict content security policy forbids. Its rules stand in
// page.css instead, so the element is not made.
const withoutStyles = {
  name: "without-styles",
  setup(builder) {
    builder.onLoad({ filter: /@observablehq[\\/]plot[\\/]src[\\/]plot\.js$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const changed = source.replace('svg.append("style").text(', 'void (');
      if (changed === source) {
        throw new Error(`${path}: the line that makes the style element was not found`);
      }
      return { contents: changed, loader: "js" };
    });
  },
};

async function bundle(entry, loader) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2020",
    charset: "ascii",
    legalComments: "none",
    loader,
    plugins: [withoutStyles],
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = (await bundle("main.ts", {})).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = await bundle("page.css", {});
const template = readFileSync(join(here, "src", "page.html"), "utf8");
const fill = (values) => template.replace(/\{\{(\w+)\}\}/g, (_, key) => values[key]);

// A file from the disk: all inline, allowed by its hash and nothing else.
const policy =
  `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data: blob:; ` +
  "base-uri 'none'; form-action 'none'";
const page = fill({
  policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
  style: `<style>${style}</style>`,
  record: '<script id="record" type="application/json">@gpilot-record@</script>',
  script: `<script>${script}</script>`,
});
// From the server, which sends the policy as a header.
const live = fill({
  policy: "",
  style: '<link rel="stylesheet" href="page.css">',
  record: "",
  script: '<script src="page.js" defer></script>',
});

const literal = (text) => {
  // A compiler need not take more than 65,536 characters in one literal: pieces stand side by side.
  const pieces = [];
  for (let i = 0; i < text.length; i += 15000) {
    pieces.push(`R"gpilot(${text.slice(i, i + 15000)})gpilot"`);
  }
  return pieces.join("\n    ");
};

if (!output.endsWith(".cpp")) {
  mkdirSync(output, { recursive: true });
  for (const [name, text] of Object.entries({ "page.html": page, "live.html": live, "page.js": script, "page.css": style })) {
    writeFileSync(join(output, name), text);
  }
} else {
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(
    output,
    `// Made by web/build.mjs.
#include "gpilot/report/page.hpp"

namespace gpilot::report {

const WebAssets& web_assets() {
  static const WebAssets assets{
    .page = ${literal(page)},
    .live = ${literal(live)},
    .script = ${literal(script)},
    .style = ${literal(style)}};
  return assets;
}

}  // namespace gpilot::report
`,
  );
}
