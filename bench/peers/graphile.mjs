// SPDX-License-Identifier: MIT
//
// graphile.mjs - graphile-worker, with its local queue and its completions in batches.
//
// Settings of its own: concurrency=N, queue=N (jobs fetched at a time), sockets=N (for http).
import { Logger, makeWorkerUtils, run as runWorker } from "graphile-worker";
import pg from "pg";
import { poster, run } from "./common.mjs";

const TASK = "bench";
const logger = new Logger(() => () => {});

async function open({ url, connections, mode }) {
  const pgPool = new pg.Pool({ connectionString: url, max: Math.max(2, connections) });
  const lost = (error) => {
    throw error;
  };
  pgPool.on("error", lost).on("connect", (client) => client.on("error", lost));
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  if (mode.startsWith("enqueue")) await utils.addJob(TASK, {}); // the task has its row, the pool its plans
  return {
    add: (job) => utils.addJob(TASK, job),
    addMany: (jobs) => utils.addJobs(jobs.map((payload) => ({ identifier: TASK, payload }))),
    left: async () => (await pgPool.query("select 1 from graphile_worker._private_jobs limit 1")).rowCount,
    close: () => utils.release().then(() => pgPool.end()),
  };
}

const TASKS = {
  drain: (words, handled) => () => handled(1),
  latency: (words, handled) => () => handled(),
  insert: (words, handled) => async (payload, helpers) => {
    await helpers.withPgClient((client) =>
      client.query({ name: "effect", text: "insert into effect (job) values ($1)", values: [helpers.job.id] }));
    handled(1);
  },
  http: async (words, handled) => {
    const post = await poster(words);
    return async (payload) => {
      await post(JSON.stringify(payload));
      handled(1);
    };
  },
};

async function work(words, handled) {
  const batched = words.mode !== "latency"; // fetching ahead makes a single job wait longer
  const worker = batched ? { localQueue: { size: words.queue }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {};
  await runWorker({
    preset: { worker: { ...worker, maxPoolSize: words.concurrency + 2, connectionString: words.url } },
    concurrency: words.concurrency,
    noHandleSignals: true,
    logger,
    taskList: { [TASK]: await TASKS[words.mode](words, handled) },
  });
}

await run({ concurrency: 24, queue: 5000, sockets: 50 }, open, work);
