#!/usr/bin/env node
// A receiver in Node that works at several deliveries at once: `pipe = /usr/lib/shop/handler.cjs`.
const readline = require("node:readline");

// handle resolves to nothing for done, or to an outcome; whatever is thrown is a failed attempt.
async function handle(delivery) {
  const order = delivery.payload;
  if (order.total_cents < 0)
    return { outcome: "permanent", reason: `order ${order.order_id} has a total below 0` };
  if (order.is_busy)
    return { outcome: "retry_after", seconds: 30, reason: "the printer is busy" };
  console.error(`printing ${order.order_id}`); // goes to the relay's log
}

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

async function answer(delivery) {
  say({ id: delivery.id, begun: true }); // in hand from now on, beside others
  try {
    say({ id: delivery.id, outcome: "done", ...(await handle(delivery)) });
  } catch (error) {
    say({ id: delivery.id, outcome: "failed", reason: String(error) });
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.hello) say({ hello: 1 });
  else answer(message);
});
