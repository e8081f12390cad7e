// node build.mjs MODULE PAGE: page.html with the module in it.
import { readFileSync, writeFileSync } from "node:fs";

const [module, page] = process.argv.slice(2);
const template = readFileSync(new URL("page.html", import.meta.url), "utf8");
writeFileSync(page, template.replace("@MODULE@", readFileSync(module).toString("base64")));
