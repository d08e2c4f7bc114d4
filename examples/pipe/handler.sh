#!/bin/sh
# A receiver in plain shell that stays: `pipe = /usr/lib/shop/handler.sh`.
# A line begins with {"id":N, and its payload is its last member, so that no JSON parser is needed for those;
# with jq, `order_id=$(printf '%s' "$payload" | jq -r .order_id)` reads the payload itself.

say() {
  printf '%s\n' "$1"
}

handle() {
  case $1 in
    *'"total_cents": -'* | *'"total_cents":-'*) echo '"permanent","reason":"a total below 0"' ;;
    *'"is_busy"'*) echo '"retry_after","seconds":30,"reason":"the printer is busy"' ;;
    *) echo '"done"' && echo "printing $1" >&2 ;; # standard error goes to the relay's log
  esac
}

read -r hello || exit 1
say '{"hello":1}'
while read -r line; do
  id=${line#'{"id":'}
  id=${id%%,*}
  payload=${line#*',"payload":'}
  payload=${payload%'}'}
  say "{\"id\":$id,\"outcome\":$(handle "$payload")}"
done
