#!/usr/bin/python3
"""A receiver in Python that stays: owed.conf says `pipe = /usr/lib/shop/handler.py`."""
import json
import sys


def handle(delivery):
    """Return None for done, or an outcome; whatever is raised is a failed attempt."""
    order = delivery["payload"]
    if order["total_cents"] < 0:
        return {"outcome": "permanent", "reason": f"order {order['order_id']} has a total below 0"}
    if order.get("is_busy"):
        return {"outcome": "retry_after", "seconds": 30, "reason": "the printer is busy"}
    print(f"printing {order['order_id']}", file=sys.stderr)  # goes to the relay's log
    return None


def say(answer):
    print(json.dumps(answer), flush=True)


json.loads(sys.stdin.readline())  # the relay's hello
say({"hello": 1})
for line in sys.stdin:
    delivery = json.loads(line)
    try:
        answer = handle(delivery) or {"outcome": "done"}
    except Exception as error:
        answer = {"outcome": "failed", "reason": f"{type(error).__name__}: {error}"}
    say({"id": delivery["id"], **answer})
