// Runs the modules under node.
//
//   node vectors.mjs check MODULE                    the suite that is compiled in
//   node vectors.mjs files MODULE FOLDER...          files of each folder's manifest.json: describe and decode, SHA-256
//
// Exit status 0 if everything held.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [mode, module, ...folders] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const wasm = instance.exports;
const bytesAt = (at, len) => new Uint8Array(wasm.memory.buffer, at, len);
const text = (at, len) => new TextDecoder().decode(bytesAt(at, len));

if (mode === "check") {
  const held = wasm.check();
  console.log(text(wasm.report(), wasm.report_len()).trimEnd());
  process.exit(held === 1 ? 0 : 1);
}

const counts = { decoded: 0, described: 0, refused: 0, damaged: 0, failed: 0 };
const put = (file) => {
  const bytes = readFileSync(file);
  bytesAt(wasm.input(bytes.length), bytes.length).set(bytes);
};
const run = (name) => {
  const len = wasm[name]();
  return { failed: wasm.failed() === 1, bytes: bytesAt(wasm.output(), len).slice() };
};
const fault = (name, what) => {
  counts.failed += 1;
  console.log(`FAILED: ${name}: ${what}`);
};
// What stands outside of the file: codecs and filters of users, plugins that need the array's shape.
const needsMore = (r) => /user/.test(r.codec) || (r.filters ?? []).some((id) => id >= 160) || r.kind === "chunk-lazy" ||
  (r.kind === "chunk" && (r.codec === "ndlz" || (r.filters ?? []).some((id) => id >= 32)));

for (const folder of folders) {
  for (const r of JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))) {
    if (typeof r.file !== "string") continue;
    const file = join(folder, r.file);
    if (!existsSync(file) || /sframe|bcolz|raw/.test(r.kind ?? "") || (r.offset ?? 0) > 0) continue;
    if (r.kind?.startsWith("malformed")) {
      put(file);
      const { failed } = run("decode");
      counts.damaged += 1;
      counts.refused += failed;
      run("describe");
      continue;
    }
    const hash = r.decoded_sha256;
    if (!hash || r.uninit || needsMore(r)) continue;
    put(file);
    const { failed, bytes } = run("decode");
    const got = createHash("sha256").update(bytes).digest("hex");
    if (failed) fault(r.file, new TextDecoder().decode(bytes));
    else if (got !== hash) fault(r.file, `wrong hash of ${bytes.length} bytes`);
    else counts.decoded += 1;
    const about = run("describe");
    if (about.failed) fault(r.file, new TextDecoder().decode(about.bytes));
    else if (JSON.parse(new TextDecoder().decode(about.bytes)).kind) counts.described += 1;
  }
}
console.log(`figure files: ${counts.decoded} decoded to the recorded hash, ${counts.described} described, ` +
  `${counts.damaged} malformed, ${counts.refused} of them refused, ${counts.failed} failed; memory ${Math.ceil(wasm.memory.buffer.byteLength / 1024)} KiB`);
process.exit(counts.failed === 0 && counts.decoded > 0 ? 0 : 1);
