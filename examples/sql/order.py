#!/usr/bin/python3
"""The order and the news of it commit together, or neither does.

usage: order.py URL ORDER
"""
import json
import sys

import psycopg

url, order = sys.argv[1], int(sys.argv[2])
with psycopg.connect(url) as db:  # commits at the end, rolls back where something is raised
    db.execute("create table if not exists orders (id bigint primary key, total_cents bigint not null)")
    db.execute("insert into orders values (%s, 1200) on conflict do nothing", [order])
    event = db.execute(
        "select owed_fire(%s, %s, dedupe_key => %s, actor_key => %s)",
        ["shop.OrderPlaced", json.dumps({"order_id": order, "total_cents": 1200}), f"order-{order}", "example"],
    ).fetchone()[0]
print(event)
