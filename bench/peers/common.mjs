// SPDX-License-Identifier: MIT
//
// common.mjs - what the peers share: their words, their modes, their processes and their clock.
//
//     node PEER.mjs MODE URL ROWS [NAME=VALUE...]
//
// URL is an empty database of PostgreSQL, made for this run alone. Modes:
//
//     enqueue       ROWS jobs in a durable transaction each, on connections=N (1)
//     enqueue-bulk  the same, 1,000 jobs a call
//     drain         ROWS jobs taken by a handler that does nothing
//     insert        ROWS jobs taken by a handler that inserts one row
//     http          ROWS jobs posted to target=URL, each done when it is answered
//     latency       ROWS jobs, one at a time, beside an idle worker in another process
//
// What drain, insert and http find is written first, and not timed: their clock runs from the start of
// the workers, already connected to nothing but loaded, to the moment when no job is left.
// Prints one line: mode, rows, seconds, rows a second; for latency: mode, rows, then p50 and p99 in
// milliseconds from the end of the commit to the handler's start, and both from before the enqueue.
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pg from "pg";

const REPORT_MS = 10;
const BULK = 1000;
const PAUSE_MS = 30;
const GIVE_UP_MS = 300_000;

export const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

export async function withClient(url, run) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

function readWords(settings) {
  const [mode, url, rows, ...pairs] = process.argv.slice(2);
  const words = { ...settings, mode, url, rows: Number(rows), connections: 1, processes: 2 };
  for (const pair of pairs) {
    const [name, value] = pair.split(/=(.*)/s);
    words[name] = /^-?\d+$/.test(value) ? Number(value) : value;
  }
  const payload = words.payload ?? fileURLToPath(new URL("payload.json", import.meta.url));
  words.job = JSON.parse(readFileSync(payload, "utf8"));
  return words;
}

function say(mode, rows, seconds) {
  console.log(`${mode} ${rows} ${seconds.toFixed(3)} ${(rows / seconds).toFixed(0)}`);
}

// inParallel shares ROWS out between as many loops as there are connections.
async function inParallel(words, one) {
  let left = words.rows;
  const loop = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: words.connections }, loop));
}

async function fill(peer, words) {
  for (let done = 0; done < words.rows; done += BULK)
    await peer.addMany(Array(Math.min(BULK, words.rows - done)).fill(words.job));
}

async function enqueue(peer, words) {
  const started = nowMs();
  await inParallel(words, () => peer.add(words.job));
  say(words.mode, words.rows, (nowMs() - started) / 1000);
}

async function enqueueBulk(peer, words) {
  const started = nowMs();
  await fill(peer, words);
  say(words.mode, words.rows, (nowMs() - started) / 1000);
}

// startWorkers runs this program again; each process answers once it is loaded, and waits for "go".
async function startWorkers(words, heard) {
  const children = Array.from({ length: words.processes }, () =>
    fork(process.argv[1], process.argv.slice(2), { env: { ...process.env, PEER_WORKER: "1" } }));
  const ready = (child) => new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`a worker ended with ${code}`)));
    child.on("message", (said) => (said === "ready" ? resolve() : heard(said)));
  });
  await Promise.all(children.map(ready));
  return children;
}

async function endWorkers(children) {
  const gone = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(gone);
}

async function drain(peer, words) {
  await fill(peer, words);
  await withClient(words.url, (client) => client.query("analyze").then(() => client.query("checkpoint")));
  let done = 0;
  const children = await startWorkers(words, (said) => (done += said.done));
  const started = nowMs();
  for (const child of children) child.send("go");
  while (done < words.rows && nowMs() - started < GIVE_UP_MS) await after(1);
  while ((await peer.left()) > 0 && nowMs() - started < GIVE_UP_MS) await after(5);
  const seconds = (nowMs() - started) / 1000;
  await endWorkers(children);
  if (done !== words.rows || seconds * 1000 >= GIVE_UP_MS) throw new Error(`${done} of ${words.rows} were handled`);
  say(words.mode, words.rows, seconds);
}

const percentile = (sorted, share) => sorted[Math.floor(sorted.length * share)];

async function latency(peer, words) {
  let arrived = () => {};
  const children = await startWorkers({ ...words, processes: 1 }, (said) => said.at && arrived(said.at));
  children[0].send("go");
  const fromCommit = [];
  const fromBefore = [];
  for (let i = -10; i < words.rows; i++) {
    await after(i < 0 ? 100 : PAUSE_MS);
    const start = new Promise((resolve) => (arrived = resolve));
    const before = nowMs();
    await peer.add(words.job);
    const committed = nowMs();
    const at = await start;
    if (i < 0) continue; // the worker warms up
    fromCommit.push(Math.max(0, at - committed));
    fromBefore.push(at - before);
  }
  await endWorkers(children);
  const figures = [fromCommit, fromBefore].map((samples) => samples.sort((a, b) => a - b));
  console.log(`latency ${words.rows} ${figures.flatMap((f) => [percentile(f, 0.5), percentile(f, 0.99)])
    .map((ms) => ms.toFixed(3)).join(" ")}`);
}

const MODES = { enqueue, "enqueue-bulk": enqueueBulk, drain, insert: drain, http: drain, latency };

// asWorker tells how many were handled every few milliseconds, so that counting costs nothing.
async function asWorker(work, words) {
  let done = 0;
  setInterval(() => {
    if (done > 0) process.send({ done });
    done = 0;
  }, REPORT_MS);
  const go = new Promise((resolve) => process.once("message", resolve));
  process.send("ready");
  await go;
  await work(words, words.mode === "latency" ? () => process.send({ at: nowMs() }) : (count) => (done += count));
}

// run is the program: `open` prepares the database and answers {add, addMany, left, close}; `work` starts
// to take jobs, and calls its second argument for those that were handled.
export async function run(settings, open, work) {
  const words = readWords(settings);
  if (!(words.mode in MODES) || !(words.rows > 0)) {
    console.error("usage: node PEER.mjs enqueue|enqueue-bulk|drain|insert|http|latency URL ROWS [NAME=VALUE...]");
    process.exit(64);
  }
  if (process.env.PEER_WORKER) return asWorker(work, words);
  const peer = await open(words);
  if (words.mode === "insert")
    await withClient(words.url, (client) => client.query("create table effect (id bigserial primary key, job text not null)"));
  await MODES[words.mode](peer, words);
  await peer.close();
}

export async function poster(words) {
  const { Pool } = await import("undici");
  const target = new URL(words.target);
  const pool = new Pool(target.origin, { connections: words.sockets });
  const headers = { "content-type": "application/json", "user-agent": "peer/1" };
  return async (body) => {
    const answer = await pool.request({ path: target.pathname, method: "POST", headers, body });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`answered ${answer.statusCode}`);
  };
}
