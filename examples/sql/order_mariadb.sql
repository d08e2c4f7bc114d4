-- mariadb --init-command "set @order = 7" shop < order_mariadb.sql: the order and the news of it commit
-- together, or neither does.
create table if not exists orders (id bigint primary key, total_cents bigint not null);
start transaction;
insert ignore into orders values (@order, 1200);
call owed_fire_with('shop.OrderPlaced', json_object('order_id', @order, 'total_cents', 1200),
    json_object('dedupe_key', concat('order-', @order)));
commit;
select @owed_event_id as event_id;
