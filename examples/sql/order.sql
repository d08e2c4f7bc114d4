-- psql -v order=7 -f order.sql: the order and the news of it commit together, or neither does.
begin;
create table if not exists orders (id bigint primary key, total_cents bigint not null);
insert into orders values (:order, 1200) on conflict do nothing;
select owed_fire('shop.OrderPlaced', json_build_object('order_id', :order, 'total_cents', 1200),
    dedupe_key => 'order-' || :order) as event_id;
commit;
