// Builds the pages into the Python package: `node build.mjs`. `node build.mjs tests` [FOLDER] compiles the tests into .tests/ or there,
// `node build.mjs --check` says whether what is committed is what the sources give.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "deskcheck", "view", "static");
const shared = { bundle: true, absWorkingDir: here, jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" };

// The licences of all packages that a bundle has code of.
function licences(inputs) {
  const folders = new Set();
  for (const path of Object.keys(inputs)) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) folders.add(found[1]);
  }
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
    const file = readdirSync(join(here, folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? readFileSync(join(here, folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

if (process.argv[2] === "tests") {
  const outdir = process.argv[3] ?? join(here, ".tests");
  const names = (await readdir(join(here, "tests"))).filter((name) => name.endsWith(".test.ts"));
  const entryPoints = names.map((name) => join("tests", name));
  await build({ ...shared, entryPoints, outdir, outExtension: { ".js": ".mjs" }, format: "esm", platform: "node" });
} else {
  const check = process.argv[2] === "--check";
  const made = await build({
    ...shared,
    entryPoints: { trace: "src/trace_pages.ts", report: "src/report.tsx", document: "src/document_pages.ts" },
    outdir: target,
    minify: true,
    format: "iife",
    target: ["chrome110", "firefox115", "safari16.4"],
    charset: "ascii",
    legalComments: "none", // the licences stand in a file of their own
    metafile: true,
    write: !check,
  });
  const file = join(target, "LICENCES.txt");
  const text = licences(made.metafile.inputs);
  if (!check) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    console.error(`${file} does not name what the bundles hold: make web`);
    process.exitCode = 1;
  }
  for (const file of check ? made.outputFiles : []) {
    if (!readFileSync(file.path).equals(Buffer.from(file.contents))) {
      console.error(`${file.path} is not what web/src gives: make web`);
      process.exitCode = 1;
    }
  }
}
