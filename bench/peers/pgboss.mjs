// SPDX-License-Identifier: MIT
//
// pgboss.mjs - pg-boss, with large fetches, completed whole.
//
// Settings of its own: batch=N (jobs fetched at a time), loops=N (of fetch and complete, in a process),
// sockets=N (for http).
import { PgBoss } from "pg-boss";
import pg from "pg";
import { after, poster, run } from "./common.mjs";

const QUEUE = "bench";
const QUIET = { supervise: false, schedule: false };

async function start(url, max, more = {}) {
  const boss = new PgBoss({ connectionString: url, max, ...QUIET, ...more });
  boss.on("error", (error) => {
    throw error;
  });
  await boss.start();
  return boss;
}

async function open({ url, connections, mode }) {
  const boss = await start(url, Math.max(2, connections));
  await boss.createQueue(QUEUE, { notify: mode === "latency" });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  return {
    add: (job) => boss.send(QUEUE, job),
    addMany: (jobs) => boss.insert(QUEUE, jobs.map((data) => ({ data }))),
    left: async () =>
      (await pool.query("select 1 from pgboss.job where name = $1 and state < 'completed' limit 1", [QUEUE])).rowCount,
    close: () => boss.stop({ graceful: false }).then(() => pool.end()),
  };
}

// loop takes one batch after the other; `handle` completes them once it has done its work.
async function loop(boss, words, handled, handle) {
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: words.batch });
    if (jobs.length === 0) {
      await after(20);
      continue;
    }
    await handle(jobs, (options) => boss.complete(QUEUE, jobs.map((job) => job.id), null, options));
    handled(jobs.length);
  }
}

const HANDLERS = {
  drain: () => (jobs, complete) => complete(),
  // Its rows and its completion commit together.
  insert: ({ url }) => {
    const pool = new pg.Pool({ connectionString: url });
    return async (jobs, complete) => {
      const client = await pool.connect();
      const executeSql = (text, values) => client.query(text, values);
      await client.query("begin");
      for (const job of jobs)
        await client.query({ name: "effect", text: "insert into effect (job) values ($1)", values: [job.id] });
      await complete({ db: { executeSql } });
      await client.query("commit");
      client.release();
    };
  },
  http: async (words) => {
    const post = await poster(words);
    return async (jobs, complete) => {
      await Promise.all(jobs.map((job) => post(JSON.stringify(job.data))));
      await complete();
    };
  },
};

async function work(words, handled) {
  if (words.mode === "latency") {
    const boss = await start(words.url, 4, { useListenNotify: true });
    await boss.work(QUEUE, { pollingIntervalSeconds: 0.5 }, async () => handled());
    return;
  }
  const boss = await start(words.url, words.loops + 1);
  const handle = await HANDLERS[words.mode](words);
  await Promise.all(Array.from({ length: words.loops }, () => loop(boss, words, handled, handle)));
}

await run({ batch: 5000, loops: 1, sockets: 25 }, open, work);
