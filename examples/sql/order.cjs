// The order and the news of it commit together, or neither does.
//
// usage: node order.cjs URL ORDER        (npm install pg)
const { Client } = require('pg');

async function main(url, order) {
  const db = new Client({ connectionString: url });
  await db.connect();
  try {
    await db.query('begin');
    await db.query('create table if not exists orders (id bigint primary key, total_cents bigint not null)');
    await db.query('insert into orders values ($1, 1200) on conflict do nothing', [order]);
    const { rows } = await db.query(
      'select owed_fire($1, $2::text, dedupe_key => $3, due_at => $4) as id',
      ['shop.OrderPlaced', JSON.stringify({ order_id: order, total_cents: 1200 }), `order-${order}`, new Date()]);
    await db.query('commit');
    console.log(rows[0].id);
  } finally {
    await db.end();
  }
}

main(process.argv[2], Number(process.argv[3])).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
