// Opens the page in headless Chromium, gives it local files as a person would, and looks at what it shows.
//
//   node test.mjs CHROMIUM PAGE OUT FILE=TEXT...       TEXT: what the page must show for FILE; "error" for a refusal
//
// Speaks the browser's debugging protocol over a pipe. Writes OUT/NAME.png for each file. Status 0 if all held.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const [chromium, page, out, ...cases] = process.argv.slice(2);
const browser = spawn(chromium, ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
  "--window-size=1000,1100", `--user-data-dir=${join(out, "profile")}`, "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const waiting = new Map();
let next = 0, left = "";
browser.stdio[4].on("data", (data) => {
  const messages = (left + data).split("\0");
  left = messages.pop();
  for (const message of messages.map((m) => JSON.parse(m))) {
    const settle = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) settle?.reject(new Error(message.error.message));
    else settle?.resolve(message.result);
  }
});
const call = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
  waiting.set(++next, { resolve, reject });
  browser.stdio[3].write(JSON.stringify({ id: next, method, params, sessionId }) + "\0");
});
const end = (status) => {
  browser.kill();
  process.exit(status);
};
setTimeout(() => { console.log("FAILED: the browser did not answer"); end(1); }, 60000).unref();

let failed = 0;
const { targetId } = await call("Target.createTarget", { url: "about:blank" });
const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
const tab = (method, params) => call(method, params, sessionId);
const evaluate = async (expression) => (await tab("Runtime.evaluate", { expression, returnByValue: true })).result.value;
await tab("Page.enable");
for (const entry of cases) {
  const [file, wanted] = [entry.slice(0, entry.lastIndexOf("=")), entry.slice(entry.lastIndexOf("=") + 1)];
  await tab("Page.navigate", { url: `file://${resolve(page)}` });
  const unready = "document.readyState !== 'complete' || !document.getElementById('file')";
  for (let k = 0; k < 100 && await evaluate(unready); k++) await new Promise((r) => setTimeout(r, 50));
  // By object: the browser numbers a document's nodes anew when it has been loaded, at some time or other.
  const { result } = await tab("Runtime.evaluate", { expression: "document.getElementById('file')" });
  await tab("DOM.setFileInputFiles", { objectId: result.objectId, files: [resolve(file)] });
  for (let k = 0; k < 200 && await evaluate("!document.body.dataset.state"); k++) await new Promise((r) => setTimeout(r, 50));
  const state = await evaluate("document.body.dataset.state"), text = await evaluate("document.body.innerText");
  const held = wanted === "error" ? state === "error" : state === "shown" && text.includes(wanted);
  if (!held) {
    failed += 1;
    console.log(`FAILED: ${basename(file)}: ${state}: ${text}`);
  }
  const { data } = await tab("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(out, `${basename(file)}.png`), Buffer.from(data, "base64"));
}
console.log(`figure page in headless Chromium: ${cases.length - failed} of ${cases.length} files shown as they should be`);
end(failed === 0 ? 0 : 1);
